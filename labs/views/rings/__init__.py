"""Views of tasks in a ring, their working sets, and the caches that hold these."""
