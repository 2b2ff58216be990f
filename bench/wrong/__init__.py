"""Wrong submissions as a teaching assistant knows them, and what the grader says of each."""
