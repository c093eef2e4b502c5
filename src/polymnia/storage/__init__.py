"""Storage engines: one folder each, behind the interfaces of engine/ports."""
