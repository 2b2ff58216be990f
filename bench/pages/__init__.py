"""Whether a person who follows a page comes to its end: its commands, run as they are written."""
