"""What each measured process starts with: all readers imported, and their seeds read."""

from bench.fuzz.targets import TARGETS

for _each in TARGETS.values():
    _each.seeds()
