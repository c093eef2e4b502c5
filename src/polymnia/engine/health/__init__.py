"""Server health: component status, request statistics and the integrity of the store."""
