"""What a run says: its figure, and how two results compare."""
