"""Benchmarks of the kit itself: `python -m bench [--quick] [NAME...]`."""
