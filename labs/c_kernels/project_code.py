"""Code of a project that a C kernel calls: its headers, its sources and its libraries.

A build names them by words of the compiler's command: `-I DIR`, further sources, `-L DIR`, `-l`.
"""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

#: What the linker takes: its order matters, so it stands after the source that needs it.
_LINKED = (".c", ".o", ".a", ".so", ".dylib")
#: Flags whose value is the next word.
_WITH_VALUE = ("-I", "-L", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-o", "-x")
_FROM_ELSEWHERE = ("-I", "-L", "-l", "-include", "-isystem", "-iquote", "-idirafter")
_LIBRARY_FILES = ("lib{}.so", "lib{}.a", "lib{}.dylib")
_TIME_LIMIT_S = 60
_AT_ONCE = 1 << 20


def words_of(
    includes: Sequence[Path] = (),
    sources: Sequence[Path] = (),
    library_folders: Sequence[Path] = (),
    libraries: Sequence[str] = (),
) -> tuple[str, ...]:
    """The words for the compiler. Raises ValueError for a folder or a file that is not there."""
    for option, folders in (("--include", includes), ("--library-dir", library_folders)):
        for folder in folders:
            if not folder.is_dir():
                raise ValueError(f"{option} {folder}: there is no such folder")
    for source in sources:
        if not source.is_file() or source.suffix not in _LINKED:
            kinds = ", ".join(_LINKED)
            raise ValueError(f"--source {source}: there is no such file that ends in {kinds}")
    return (
        *(f"-I{folder}" for folder in includes),
        *(str(source) for source in sources),
        *(f"-L{folder}" for folder in library_folders),
        *(f"-l{name}" for name in libraries),
    )


def in_order(flags: Sequence[str]) -> tuple[list[str], list[str]]:
    """The flags that stand before the source, and those for the linker that stand after it.

    The program finds a shared library at run time in the folder where the linker found it.
    """
    before: list[str] = []
    after: list[str] = []
    for word, is_value in _with_roles(flags):
        is_linked = not is_value and (
            word.startswith("-l") or (not word.startswith("-") and word.endswith(_LINKED))
        )
        (after if is_linked else before).append(word)
    paths = [f"-Wl,-rpath,{Path(folder).absolute()}" for folder in _values_of("-L", flags)]
    return [*before, *paths], after


def fingerprint(compiler: Sequence[str], flags: Sequence[str], text: str) -> str:
    """A hash of everything from elsewhere that goes into the build of `text`; '' if nothing does.

    `compiler` holds its command with all flags of a build. A header that changed, or a library that
    was built anew, gives another hash, so that no old program is run. A source that the compiler
    refuses here is refused by the build, too, and never becomes a program.
    """
    before, after = in_order(flags)
    if not after and not any(word.startswith(_FROM_ELSEWHERE) for word in before):
        return ""
    digest = hashlib.sha256()
    sources = [word for word in after if word.endswith(".c")]
    with contextlib.suppress(subprocess.TimeoutExpired):  # the build takes as long, and says so
        preprocessed = subprocess.run(
            [*compiler, *before, "-E", *sources, "-x", "c", "-"],
            input=text.encode(),
            capture_output=True,
            timeout=_TIME_LIMIT_S,
            check=False,
        )
        digest.update(preprocessed.stdout)
    for file in _linked_files(flags, after):
        digest.update(f"\0{file}\0".encode())
        with file.open("rb") as content:
            while block := content.read(_AT_ONCE):
                digest.update(block)
    return digest.hexdigest()


def _linked_files(flags: Sequence[str], after: Sequence[str]) -> Iterator[Path]:
    """The files for the linker, and the libraries in folders that the flags name."""
    folders = [Path(each) for each in _values_of("-L", flags)]
    for word in after:
        if not word.startswith("-l"):
            candidates = [Path(word)]
        else:
            names = [form.format(word[2:]) for form in _LIBRARY_FILES]
            candidates = [folder / name for folder in folders for name in names]
        yield from (each for each in candidates if each.is_file())


def _values_of(flag: str, flags: Sequence[str]) -> list[str]:
    """The values of `flag`, which stand in the same word or in the next one."""
    found: list[str] = []
    for place, (word, is_value) in enumerate(_with_roles(flags)):
        if not is_value and word.startswith(flag):
            following = flags[place + 1 : place + 2]
            found += [word[len(flag) :]] if word != flag else following
    return found


def _with_roles(flags: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it is the value of the flag before it."""
    for place, word in enumerate(flags):
        yield word, place > 0 and flags[place - 1] in _WITH_VALUE
