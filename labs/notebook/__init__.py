"""What a student holds in a notebook: session, runs, panel, C cells, messages."""
