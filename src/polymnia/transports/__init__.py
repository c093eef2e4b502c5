"""How bytes move: every transport meets every dialect in operation/."""
