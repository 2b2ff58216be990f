"""How long a student waits: for the page, for a plot, for a check."""
