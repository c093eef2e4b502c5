"""The calls every client replays, and the comparison of what they were answered."""
