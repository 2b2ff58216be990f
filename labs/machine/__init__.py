"""What this machine is and can do: facts read from the OS, and small trials."""
