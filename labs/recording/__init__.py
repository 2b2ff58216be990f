"""The recording: its file, header and rows, and what its conditions state."""
