"""Wrong submissions of the labs about memory."""
