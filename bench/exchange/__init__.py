"""What is left when grading is interrupted: kills, full disks, a locked gradebook."""
