"""The network as its clients, and those who would like to be, meet it."""
