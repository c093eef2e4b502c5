"""What every store must do, whatever it is made of. Today there is one engine; the next joins in ``engines.py``."""
