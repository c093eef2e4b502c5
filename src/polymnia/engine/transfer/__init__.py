"""Memory as files people have: one module a format."""
