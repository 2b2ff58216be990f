"""The command `grader`, one module for each subcommand.

Each module has `add(commands)`, which adds its subcommand and sets `run=` to a function that takes
the parsed arguments and returns the exit status. The folder is the list of the subcommands.
"""
