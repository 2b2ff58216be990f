"""From a lab folder to verdicts: checks, flags, and how a verdict is presented."""
