"""What a run says: its figure, its warnings, and how two results compare."""
