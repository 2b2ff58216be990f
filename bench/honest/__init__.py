"""Honest submissions by the hundred, measured under all kinds of circumstances."""
