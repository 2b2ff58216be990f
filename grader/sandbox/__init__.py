"""Runs code of students, for the two purposes that need it, where it can harm nobody.

Grading needs nothing of this package: figures are judged by their recordings. An instructor may ask
for a new run of a student's C, or may add cells that are executed. Both happen in bubblewrap, and
nowhere if there is no bubblewrap.
"""
