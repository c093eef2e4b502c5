"""The content dialect, through the door its users come in by."""
