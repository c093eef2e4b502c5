"""Writes the generated parts of the clients from the schemas the server publishes: ``python -m clients.generate``."""
