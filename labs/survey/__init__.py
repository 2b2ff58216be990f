"""Measure everything on this machine once, and report it."""
