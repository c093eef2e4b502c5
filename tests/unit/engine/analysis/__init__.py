"""What can be said about stored content as a whole."""
