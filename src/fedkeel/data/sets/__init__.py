"""Data sets that have a name: where they come from, where they lie, how they are kept."""
