"""What each command of `labs` does and takes, with an example of each.

Nothing here imports what measures or draws: help and completion wait for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from labs.c_kernels import catalogue
from labs.commands import outputs
from labs.commands.command_line import Command
from labs.course import lab_names
from labs.files import with_ending
from labs.run import broken, declared_options
from labs.terminal import complete_with, offered_files, offered_folders, one_of

# The commands for a question of one's own.


def _new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="the name of your C kernel; it goes to NAME.c in the current folder, or to a file in "
        "C++ if NAME ends in .cpp",
    )
    parser.add_argument(
        "--function",
        default="",
        metavar="PROTOTYPE",
        help="call this function, with new texts and numbers for each operation: "
        "'int f(const char *, size_t)'",
    )
    header = parser.add_argument(
        "--header", default="", metavar="FILE", help="include this header, which declares it"
    )
    complete_with(header, offered_files(".h", ".hpp"))
    parser.add_argument(
        "--threads",
        type=int,
        choices=(1, 2),
        default=1,
        help="2: another thread calls it too, on another CPU (default: 1)",
    )


def _record(parser: argparse.ArgumentParser) -> None:
    _add_measure(
        parser,
        Path,
        "write the recording to this file (default: the C kernel's name with .csv in the "
        "current folder, or with a number if that is taken)",
    )


def _add_measure(
    parser: argparse.ArgumentParser, path: Callable[[str], Path], about_save: str
) -> None:
    """Add all that `labs measure` and `labs record` take: both are carried out by one function."""
    declared_options.add_line(parser)
    save = parser.add_argument("--save", type=path, metavar="FILE", help=about_save)
    complete_with(save, offered_files(".csv"))
    outputs.add_options(parser, "measure")


def _compare(parser: argparse.ArgumentParser) -> None:
    declared_options.add_pair(parser)
    about = "write the recordings to this folder, and C of your own next to them; it must be there"
    _folder(parser, about, name="--save")
    outputs.add_options(parser, "compare")


def _show(parser: argparse.ArgumentParser) -> None:
    recording = parser.add_argument(
        "recording", type=Path, metavar="RECORDING", help="a recording that was saved, a .csv file"
    )
    complete_with(recording, offered_files(".csv"))
    parser.add_argument(
        "--variant",
        default="",
        metavar="V[,V...]",
        help="the variants to show (default: all of the recording)",
    )
    parser.add_argument(
        "--unit", default="ns", metavar="UNIT", help="ticks, cycles, ns, us, ms or s"
    )
    about = "write the page to this file (default: the recording's name with .html, in the current "
    outputs.add_options(parser, "show", "page").add_argument(
        "--output", type=_page, metavar="FILE", help=f"{about}folder)"
    )


#: These commands, in the order of the help.
OWN = {
    "new": Command(
        "write a C kernel of your own, to be changed, that can be measured at once",
        _new,
        (
            "labs new my_function",
            "labs new crc --function 'int f(const char *, size_t)' --header x.h",
        ),
        "kernels",
    ),
    "record": Command(
        "measure one C kernel and keep its recording, with counts of events if --perf is given",
        _record,
        ("labs record pipe_write.c", "labs record pipe_write.c --perf"),
        "measure",
    ),
    "compare": Command(
        "measure two variants, C kernels or files in turns, and say by how much they differ",
        _compare,
        (
            "labs compare system_call:getppid system_call:read0",
            "labs compare mine.c:write other.c:write --markdown",
            "labs compare mine.c mine.c --source-a new.c --source-b old.c --fail-if slower:5%",
        ),
        "measure",
    ),
    "show": Command(
        "show what a saved recording says: its figures, warnings, plots and conditions",
        _show,
        ("labs show run.csv", "labs show run.csv --text"),
    ),
}


DEFAULT = "~/ticklab-labs"
REPORT = "ticklab-report.html"
SHELLS = ("bash", "zsh", "fish")


def _start(parser: argparse.ArgumentParser) -> None:
    about = f"the folder of your copy (default: this folder if it is a copy, else {DEFAULT})"
    _folder(parser, about)
    _switch(parser, "--no-browser", "print the address but open no browser")
    parser.add_argument(
        "--port", type=_port, metavar="N", help="serve on this port (default: a free one)"
    )
    _switch(parser, "--no-lab", "make or update the copy, and start nothing")


def _port(word: str) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= 65535:
        raise argparse.ArgumentTypeError(f"{word!r} is not a port: give a number from 1 to 65535")
    return int(word)


def _doctor(parser: argparse.ArgumentParser) -> None:
    keys = "point, status, seen, remedy and administrator"
    _switch(parser, "--json", f"print a list of objects with the keys {keys}")
    about = "say what whoever set up this machine can change; look at nbgrader's exchange too"
    _switch(parser, "--administrator", about)


def _list(parser: argparse.ArgumentParser) -> None:
    kernel = parser.add_argument(
        "kernel", nargs="?", metavar="C_KERNEL", help="show what each of its variants does"
    )
    complete_with(kernel, one_of(catalogue.names))
    which = parser.add_mutually_exclusive_group()
    _switch(which, "--broken", "list the C kernels that are wrong on purpose")
    _switch(which, "--labs", "list the labs")
    _json(parser)


def _measure(parser: argparse.ArgumentParser) -> None:
    _add_measure(
        parser,
        lambda word: with_ending(Path(word), ".csv"),
        "write the recording to this file, a .csv file, and C of your own next to it; its "
        "folder must be there",
    )


def _broken(parser: argparse.ArgumentParser) -> None:
    name = parser.add_argument(
        "name", nargs="?", metavar="NAME", help="the C kernel to run (default: list all of them)"
    )
    complete_with(name, one_of(broken.names))
    declared_options.add_unit(parser)
    _json(parser)


def _survey(parser: argparse.ArgumentParser) -> None:
    _switch(parser, "--quick", "take fewer samples, in about 20 s instead of 3 minutes")
    _folder(parser, "write a web page and all recordings to this folder", name="--save")
    about = "measure nothing: compare the surveys that were saved in the folders A and B"
    compared = parser.add_argument("--compare", nargs=2, type=Path, metavar=("A", "B"), help=about)
    complete_with(compared, offered_folders)
    outputs.add_options(parser, "survey")


def _hand_in(parser: argparse.ArgumentParser) -> None:
    _folder(parser, "the folder of the lab (default: this folder)", Path())
    _switch(parser, "--no-submit", "pack only; do not look for an exchange")
    _json(parser)


def _hint(parser: argparse.ArgumentParser) -> None:
    lab = parser.add_argument("lab", metavar="LAB", help="the lab: 03, or 03-system-call")
    complete_with(lab, one_of(lab_names.labs))
    topic = parser.add_argument(
        "topic", nargs="?", default="", metavar="TOPIC", help="what the hint is for"
    )
    complete_with(topic, _topics)
    parser.add_argument(
        "--rung", type=int, metavar="N", help="show the hints up to this one (default: the next)"
    )
    _json(parser)


def _topics(parsed_args: argparse.Namespace, **_: object) -> tuple[str, ...]:
    return lab_names.topics_of(lab_names.lab_meant(str(parsed_args.lab)) or "")


def _join(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", metavar="CODE", help="the code on the wall")
    parser.add_argument("address", nargs="?", default="", metavar="ADDRESS", help="the address")
    _folder(parser, "the folder of the lab (default: this folder)", Path(), name="--dir")
    _switch(parser, "--show", "print what would leave this machine, and join nothing")
    _switch(parser, "--leave", "leave the class again")


def _progress(parser: argparse.ArgumentParser) -> None:
    _folder(
        parser, f"the folder of your labs (default: this folder if it holds them, else {DEFAULT})"
    )
    _json(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument(
        "what",
        nargs="*",
        type=Path,
        metavar="DIR or FILE.c",
        help="the folder of your labs (default: as for `labs progress`), a folder of recordings, "
        "or C or C++ files, which are measured first",
    )
    complete_with(what, offered_files(*catalogue.SOURCES))
    about = "print the page to a PDF too, by a Chromium, Chrome or Edge that is on this machine"
    _switch(parser, "--pdf", about)
    about = f"the page (default: {REPORT} in the folder of your labs or recordings)"
    page = parser.add_argument("--output", type=_page, metavar="FILE", help=about)
    complete_with(page, offered_files(".html"))
    parser.add_argument("--name", default="", help="your name, to be printed below the title")
    declared_options.add_run(parser)


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def _folder(
    parser: argparse.ArgumentParser, about: str, default: Path | None = None, name: str = "dir"
) -> None:
    """Add a folder that may be named, by the option `name` or at the end."""
    place: dict[str, Any] = {} if name.startswith("-") else {"nargs": "?"}
    named = parser.add_argument(
        name, type=Path, default=default, metavar="DIR", help=about, **place
    )
    complete_with(named, offered_folders)


def _page(word: str) -> Path:
    return with_ending(Path(word), ".html")


def _switch(parser: argparse._ActionsContainer, name: str, about: str) -> None:
    parser.add_argument(name, action="store_true", help=about)


def _json(parser: argparse.ArgumentParser) -> None:
    _switch(parser, "--json", outputs.FORMS["json"].about)


#: The commands in the order of the help.
COMMANDS = {
    "start": Command(
        "put your own copy of the labs in a folder and open JupyterLab",
        _start,
        ("labs start", "labs start my-labs --no-browser"),
    ),
    "doctor": Command(
        "report whether this machine can measure, and what would help",
        _doctor,
        ("labs doctor", "labs doctor --administrator"),
    ),
    "list": Command(
        "list the C kernels with their variants, or the labs",
        _list,
        ("labs list", "labs list system_call", "labs list --labs"),
        "kernels",
    ),
    "measure": Command(
        "measure one C kernel and print its figure",
        _measure,
        (
            "labs measure timer_overhead --variant fenced",
            "labs measure procedure_call --variant args0,args8 --within 2",
        ),
    ),
    **OWN,
    "broken": Command(
        "run a C kernel that is wrong on purpose next to its repaired twin",
        _broken,
        ("labs broken", "labs broken cached_getpid"),
        "kernels",
    ),
    "survey": Command(
        "measure everything on this machine, next to published figures",
        _survey,
        ("labs survey --save my-machine", "labs survey --compare my-machine another"),
        "show",
    ),
    "hint": Command(
        "show the next hint of a lab, as lab.hint does in its notebook",
        _hint,
        ("labs hint 03", "labs hint 03 own"),
        "guidance",
    ),
    "watch": Command(
        "check a lab again whenever its figures or recordings change",
        lambda parser: _folder(
            parser, "the folder of a lab, or of all your labs (default: this folder)", Path()
        ),
        ("labs watch", "labs watch 01-timer-overhead"),
        "checking",
    ),
    "join": Command(
        "join a class that works together, until Control-C",
        _join,
        ("labs join kiwi-4207 192.0.2.7:8766", "labs join kiwi-4207 192.0.2.7:8766 --leave"),
        "checking",
    ),
    "hand-in": Command(
        "check a lab once more, and make the archive that you hand in",
        _hand_in,
        ("labs hand-in", "labs hand-in 01-timer-overhead --no-submit"),
        "checking",
    ),
    "progress": Command(
        "show what you have done in all labs, and what comes next",
        _progress,
        ("labs progress", "labs progress ~/ticklab-labs"),
        "guidance",
    ),
    "report": Command(
        "write a page, and a PDF: of your results over all labs, or of a question of your own",
        _report,
        (
            'labs report --pdf --name "Ada Lovelace"',
            "labs report mine.c other.cpp -I project --source project/parse.c",
            "labs report recordings",
        ),
        "guidance",
    ),
    "completion": Command(
        "print the line that makes a shell complete these commands",
        _completion,
        ("labs completion bash >> ~/.bashrc",),
        "command_line",
    ),
}
