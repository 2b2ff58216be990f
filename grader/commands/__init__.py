"""The command `grader`; `cli.py` lists the subcommands, each with its module.

For a subcommand `X`, its module has `add_X(commands)`, which adds the subcommand and sets `run=` to
`run_X`. That function takes the parsed arguments and returns the exit status.
"""
