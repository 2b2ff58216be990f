"""Where nbgrader calls us: release, collect, autograde, feedback."""
