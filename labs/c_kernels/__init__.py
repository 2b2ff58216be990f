"""How C source becomes a program: compiler, measured region, disassembly."""
