"""Views of timers: their line as numbers, their machine code, and their system calls."""
