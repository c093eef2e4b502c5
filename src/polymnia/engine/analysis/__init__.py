"""What can be said about stored content as a whole; each module is imported only by those who ask for it."""
