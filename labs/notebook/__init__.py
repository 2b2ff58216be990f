"""What a student uses in a notebook: session, runs, panel, C cells, messages."""
