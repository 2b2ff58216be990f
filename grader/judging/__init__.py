"""Check the figures of a lab folder, flag oddities for a person, and present the verdicts."""
