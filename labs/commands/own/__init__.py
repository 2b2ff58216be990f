"""The commands for a question of one's own: begin a C kernel, compare two, look at a recording."""
