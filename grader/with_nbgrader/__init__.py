"""The code that nbgrader calls: release, collect, autograde, feedback, settings."""
