"""The official dialect beside the reference server from npm: the same calls, the same answers."""
