"""Polymnia measured side by side with the reference memory server, one command: ``python -m bench``."""
