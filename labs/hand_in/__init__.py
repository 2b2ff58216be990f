"""Hand a lab in: one last check, the archive, its receipt, and the exchange of a course."""
