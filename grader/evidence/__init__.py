"""Facts from a recording and its C, for the pitfalls: counts, clocks, places, working sets."""
