"""What must not happen when processes die, wait for each other, or find no room: a memory lost."""
