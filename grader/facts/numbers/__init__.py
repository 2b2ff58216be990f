"""Numbers of a run, and what slips make of them, beside the one that a figure asks for."""
