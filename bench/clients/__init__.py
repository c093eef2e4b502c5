"""What a call costs a client, beside the official SDK's client of the same language."""
