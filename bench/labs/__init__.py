"""The labs as a class meets them: run live, on poorer machines, and in a browser."""
