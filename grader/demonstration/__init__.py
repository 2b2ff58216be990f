"""A made-up demonstration class, graded with nbgrader."""
