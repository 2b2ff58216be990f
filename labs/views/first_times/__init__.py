"""Views of first calls: their parts, the page faults that the OS counted, and what is bound."""
