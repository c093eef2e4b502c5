"""Graph: the shape of what is related in a project."""
