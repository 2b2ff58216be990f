"""The recording: the file, its header and rows, and what its conditions state."""
