"""Knowledge: what two texts have to do with each other, and where a text belongs."""
