"""The page of the explorer in a real browser: used by its own controls, attacked, and looked at by axe."""
