"""The panel: what it is set to, what it measured, and how both look."""
