"""The network, measured side by side with the official Python SDK's server."""
