"""What of a student's way through the labs a notebook shows and asks for."""
