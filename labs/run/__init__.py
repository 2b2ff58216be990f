"""Carry out a plan: fresh processes of a C kernel, gathered into one recording."""
