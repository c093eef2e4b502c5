"""The rules of the house: what the code, the docs and the tables promise each other."""
