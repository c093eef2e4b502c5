"""The health of a server: how its parts are, what it counted of its own work, and whether its store is sound."""
