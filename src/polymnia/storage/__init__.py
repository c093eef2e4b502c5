"""How memory is kept: one folder an engine, each behind engine/ports."""
