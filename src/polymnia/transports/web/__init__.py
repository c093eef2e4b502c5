"""The network: Streamable HTTP, server-sent events and WebSocket over one core, for many clients at once."""
