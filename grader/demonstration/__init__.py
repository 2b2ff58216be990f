"""A demonstration class, graded by real nbgrader."""
