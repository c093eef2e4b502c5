"""How our models are trained: the texts, the scripts and the figures."""
