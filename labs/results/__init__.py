"""What a run says: its figure and its warnings, and how two results compare."""
