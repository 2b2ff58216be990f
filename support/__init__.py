"""What both the tests and the benchmarks need: simulated machines, saved runs, small courses."""
