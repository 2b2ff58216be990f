"""Submissions that a hostile or unlucky student may hand in, by kind.

A module of this folder that has `CASES` holds one kind; nothing else lists it. `all_cases` gives
every case, and `Hostile.write` lays one into an empty folder.
"""
