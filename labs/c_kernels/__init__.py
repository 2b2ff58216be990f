"""From C source to a program: compiler, measured region, disassembly."""
