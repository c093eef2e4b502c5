"""What commands print and read."""
