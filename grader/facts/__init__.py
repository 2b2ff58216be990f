"""What a recording and its C show, for the pitfalls: counts, clocks, places, working sets."""
