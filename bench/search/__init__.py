"""How well and how fast the search finds: real question sets, our lanes, and servers of the field beside them."""
