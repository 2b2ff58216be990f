"""The parser of `labs` and `grader`: help that fits, "did you mean", and completion by a shell."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs import terminal
from labs.terminal import NobodyReads, print_in_any_encoding, say, suggestion

#: As of any program that was called in a way that it does not know.
USAGE = 2


class Parser(argparse.ArgumentParser):
    """A parser whose errors suggest the word that was meant, and whose help ends in examples.

    Each of the `examples` is one command line, with two blanks between it and what it does.
    """

    def __init__(self, *, examples: Sequence[str] = (), **options: Any) -> None:
        more = ["examples:", *(f"  {each}" for each in examples)] if examples else []
        notes = [options.pop("epilog", "") or ""] if options.get("epilog") else []
        epilog = "\n\n".join([*notes, *(["\n".join(more)] if more else [])])
        super().__init__(epilog=epilog or None, **{"formatter_class": _Help, **options})

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does it, and nothing may be left over, also not from a subcommand."""
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(self._of_unknown(left))
        return found, left

    def error(self, message: str) -> Any:
        """Print what is wrong, and where to read more. Raises SystemExit."""
        more = "" if "--help" in message else f"; `{self.prog} --help` shows what may be given"
        say(
            f"{self.prog}: {message.rstrip('.?')}{'?' if message[-1:] == '?' else more}",
            file=sys.stderr,
        )
        raise SystemExit(USAGE)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help and usage go to a terminal as all else does."""
        if message:
            say(message.rstrip("\n"), file=file)

    def _of_unknown(self, words: Sequence[str]) -> str:
        first = words[0].partition("=")[0]
        if not first.startswith("-"):
            return f"{words[0]!r} is too much; `{self.prog} --help` shows what may be given"
        known = tuple(
            name for action in self._actions for name in action.option_strings if name[:2] == "--"
        )
        return f"no option {first}{suggestion(first, known)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = tuple(map(str, action.choices))
        what = (action.option_strings or [action.dest])[-1].lstrip("-")
        what = "command" if isinstance(action, argparse._SubParsersAction) else what
        raise argparse.ArgumentError(None, f"no {what} {value!r}{suggestion(str(value), known)}")


@dataclass(frozen=True)
class Command:
    """A command: what it does, its options, and examples with what each of them does.

    `run_NAME` in the `module` of `labs.commands`, which has the same name if it is not stated,
    carries it out.
    """

    about: str
    add: Callable[[argparse.ArgumentParser], None]
    examples: tuple[str, ...]
    module: str = ""

    def parser(self, commands: argparse._SubParsersAction[Parser], name: str) -> None:
        """Add the command to those of the parser."""
        self.add(
            commands.add_parser(
                name, help=self.about, description=sentence(self.about), examples=self.examples
            )
        )


class _Help(argparse.HelpFormatter):
    """Lines that begin with a blank stay as they are; all others are filled."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            line if line.startswith(" ") else textwrap.fill(line, width)
            for line in text.split("\n")
        )


def sentence(about: str) -> str:
    """What a command does, as a sentence of its help."""
    return f"{about[0].upper()}{about[1:]}."


def is_completing() -> bool:
    """Whether a shell asks how to complete a command, and nothing is to be carried out."""
    return "_ARGCOMPLETE" in os.environ


def words_to_complete() -> list[str]:
    """The words of the command that a shell is to complete, without the name of the command."""
    return os.environ.get("COMP_LINE", "").split()[1:]


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and end this process."""
    from argcomplete import autocomplete
    from argcomplete.completers import FilesCompleter

    # Options are offered once a hyphen is typed.
    autocomplete(parser, always_complete_options=False, default_completer=FilesCompleter())


# `labs completion`: the line for a shell's start file that completes `labs` and `grader`.

#: The file that each shell reads when it starts.
START_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}
_LINES = {
    "bash": 'eval "$({program} --shell bash labs grader)"',
    "zsh": 'autoload -U compinit && compinit && eval "$({program} --shell zsh labs grader)"',
    "fish": "{program} --shell fish labs grader | source",
}


def run_completion(arguments: argparse.Namespace) -> int:
    """Print the line; the exit status is 0. In a terminal, say where it belongs."""
    sys.stdout.write(line_for(arguments.shell) + "\n")  # never broken: it is to be copied
    if terminal.columns() is not None:
        say(
            f"Put this line into {START_FILES[arguments.shell]}, and open a new terminal.",
            file=sys.stderr,
        )
    return 0


def line_for(shell: str) -> str:
    """The line for this shell; it names the program beside the Python that runs now."""
    # Here: hardly any command needs it.
    import shlex

    beside = Path(sys.executable).parent / "register-python-argcomplete"
    program = shlex.quote(str(beside)) if beside.is_file() else beside.name
    return _LINES[shell].format(program=program)


# How a command ends: with which exit status, and with which words if it cannot go on.
#
# It has a status also if it is interrupted or nobody reads its output.


#: As a shell reports a program that a signal ended: 128 plus the number of SIGINT or SIGPIPE.
INTERRUPTED, NOBODY_READS = 130, 141

#: A command without a subcommand printed its help, and did nothing. As `git` alone does.
NOTHING_ASKED = 1


def status_of(command: Callable[[], int]) -> int:
    """Carry out `command` and return its exit status.

    If the reader of the output has gone, as in `labs broken | head -3`, it prints no error.
    Raises SystemExit with one line if the disk has no room for the output.
    """
    print_in_any_encoding()
    try:
        try:
            return command()
        except KeyboardInterrupt:
            say("interrupted", file=sys.stderr)
            return INTERRUPTED
        finally:
            if sys.stdout is not None:  # None: standard output was closed from the beginning
                # Otherwise Python would write its buffer at exit, too late for us to report errors.
                sys.stdout.flush()
    except (NobodyReads, BrokenPipeError):
        _drop_the_rest()
        return NOBODY_READS
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _drop_the_rest()
        what = error.filename or "the output"
        raise SystemExit(f"cannot write {what}: {error.strerror}") from error


def _drop_the_rest() -> None:
    """Discard the buffered output, so that Python does not try to write it again at exit."""
    with contextlib.suppress(OSError, ValueError):  # standard output may have no file descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def complain(command: str, why: str | Exception, status: int = 1) -> int:
    """Print why `command` cannot go on, to standard error, and return its exit `status`."""
    # Here: an answer such as that of --version needs no files.
    from labs.files import explained

    text = explained(why) if isinstance(why, Exception) else why
    say(f"{command}: {text}", file=sys.stderr)
    return status
