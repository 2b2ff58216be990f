"""The report on a graded lab: what a class handed in, on one page and as a data set."""
