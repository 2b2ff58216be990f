"""The command `labs` and its subcommands."""
