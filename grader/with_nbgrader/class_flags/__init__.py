"""Flags that come from comparing the submissions of a class: shared runs, shared accounts."""
