"""A class that works together: its predictions and figures on the wall, as they come in."""
