"""From C source to a program: compile it, and look into the program.

The cache folder holds built programs under a hash of everything that went into them: source,
headers, flags, compiler, and code of a project that the C kernel calls. Timings are never cached. A
compile error names its line.
"""

from __future__ import annotations

import codecs
import errno
import functools
import hashlib
import importlib.util
import itertools
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from labs import paths, terminal
from labs.c_kernels.catalogue import C_PLUS_PLUS, SOURCES
from labs.files import read_bounded
from labs.limits import MOST_FILE_BYTES

_ALWAYS = ("-Wall", "-Wextra", "-pthread")
#: The flags of every build of C, before those that the caller asks for. With the flag on implicit
#: declarations, the compiler names the line of a call to an undeclared function; the linker would
#: name only the function.
BASE_FLAGS = ("-std=gnu11", *_ALWAYS, "-Werror=implicit-function-declaration")
DEFAULT_FLAGS = ("-O2",)
COMPILE_TIME_LIMIT_S = 60

_MESSAGE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? "
    r"(?P<severity>fatal error|error|warning): (?P<text>.*)$",
    re.MULTILINE,
)


INSTALL = (
    "Install one: Debian, Ubuntu, WSL2: sudo apt install gcc libc6-dev; Fedora: sudo dnf install "
    "gcc; macOS: xcode-select --install; conda: conda install c-compiler; without administrator's "
    "rights: pip install 'ticklab[zig]'"
)
_ANOTHER_CACHE = "Free some space, or set TICKLAB_CACHE to a folder on another disk."


@dataclass(frozen=True)
class Language:
    """A language of sources: its name, its word for `-x`, the variable of the environment that
    names its compiler, the compilers that are looked for, the flags of every build, and how to
    install a compiler."""

    name: str
    word: str
    variable: str
    compilers: tuple[str, ...]
    flags: tuple[str, ...]
    install: str

    @property
    def correct(self) -> str:
        """The remedy if the variable names a compiler that does not work."""
        return f"Unset {self.variable}, or correct it."


C = Language("C", "c", "CC", ("gcc", "cc", "clang"), BASE_FLAGS, INSTALL)
CPP = Language(
    "C++",
    "c++",
    "CXX",
    ("g++", "c++", "clang++"),
    ("-std=gnu++20", *_ALWAYS),
    INSTALL.replace("gcc libc6-dev", "g++")
    .replace("install gcc", "install gcc-c++")
    .replace("c-compiler", "cxx-compiler"),
)


def language_of(name: str) -> Language | None:
    """The language of a source by its ending; None for another file."""
    return CPP if name.endswith(C_PLUS_PLUS) else C if name.endswith(SOURCES) else None


_NOT_INCLUDED = re.compile(
    r"'?([\w/.-]+\.h)'?(?: file)?:? (?:No such file|not found|file not found)"
)


class NoCompiler(RuntimeError):
    """No C compiler works: `why`, a main clause, and the `remedy`. The message has both."""

    def __init__(self, why: str, remedy: str) -> None:
        self.why = why
        self.remedy = remedy
        super().__init__(f"{why}. {remedy}")


class CompileError(RuntimeError):
    """The compiler refused the source. `messages` are in its order, `raw` is its whole output."""

    def __init__(self, name: str, messages: tuple[CompileMessage, ...], raw: str) -> None:
        self.messages = messages
        self.raw = raw
        errors = [message for message in messages if message.severity != "warning"]
        super().__init__(
            "\n".join(str(message) for message in errors) or f"{name}: {raw.strip()[:2000]}"
        )


@dataclass(frozen=True)
class CompileMessage:
    """One message of the compiler. `file` is the name of a cell or a file that the reader knows."""

    file: str
    line: int
    column: int | None
    severity: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.severity}: {self.text}"


@dataclass(frozen=True)
class Compiler:
    """A compiler: the words of its command, and the first line of its `--version` output."""

    command: tuple[str, ...]
    version: str

    @property
    def path(self) -> str:
        """The path of the program, without the other words of the command."""
        return self.command[0]


@dataclass(frozen=True)
class Binary:
    """A built C kernel: its path and what it was built from.

    `options` are those that $CC or $CXX names, such as -pg; the compiler gets them before `flags`.
    """

    path: Path
    name: str
    source_sha256: str
    flags: tuple[str, ...]
    compiler: str
    options: tuple[str, ...] = ()


def find_compiler(language: Language = C) -> Compiler:
    """The compiler: $CC, else gcc, cc, clang, else the ziglang wheel; of C++ $CXX, else g++, c++,
    clang++, else the wheel. Raises NoCompiler."""
    asked = os.environ.get(language.variable)
    if asked:
        said = f"${language.variable} is {asked!r}"
        try:
            words = shlex.split(asked)
        except ValueError as error:
            raise NoCompiler(f"{said}: {error}", language.correct) from error
        if not words or paths.program(words[0]) is None:
            raise NoCompiler(f"{said}, and there is no such program", language.correct)
        return _compiler(tuple(words), language)
    for name in language.compilers:
        found = paths.program(name)
        if found is not None:
            return _compiler((found,), language)
    wheel = importlib.util.find_spec("ziglang")
    if wheel is not None and wheel.origin is not None:
        zig = str(Path(wheel.origin).with_name("zig"))
        return _compiler((zig, "cc" if language is C else "c++"), language)
    looked = os.environ.get("PATH") or f"{os.defpath} (PATH is empty)"
    tried = f"{', '.join(language.compilers)} are not in {looked}, and there is no ziglang"
    raise NoCompiler(f"no {language.name} compiler found: {tried}", language.install)


@functools.lru_cache(maxsize=8)
def _compiler(command: tuple[str, ...], language: Language) -> Compiler:
    try:
        done = paths.run([*command, "--version"], 30)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = f"{shlex.join(command)} does not start: {error}"
        raise NoCompiler(why, _another(language)) from error
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        why = f"{shlex.join(command)} --version fails: {done.stderr.strip()[:500]}"
        raise NoCompiler(why.rstrip(": ."), _another(language))
    return Compiler(command, lines[0])


def _another(language: Language) -> str:
    """The remedy if a compiler is there and does not work."""
    return language.correct if os.environ.get(language.variable) else language.install


def c_kernel_source(name: str) -> Path:
    """The path of the released C kernel `name`, or the file `name` if it ends as a source does.

    Raises FileNotFoundError, whose message lists the C kernels.
    """
    if name.endswith(SOURCES):
        path = Path(name)
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {name}")
        return path
    path = paths.kernels_c() / f"{name}.c"
    if not re.fullmatch(r"[a-z0-9_]+", name) or not path.is_file():
        near = terminal.suggestion(name, c_kernel_names())
        also = "" if near.endswith("?") else " A .c or .cpp file can be given, too."
        raise FileNotFoundError(f"there is no C kernel {name!r}{near}{also}")
    return path


def c_kernel_names() -> tuple[str, ...]:
    """The names of the released C kernels."""
    return tuple(sorted(path.stem for path in paths.kernels_c().glob("*.c")))


_OTHER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def source_hash(text: str) -> str:
    """The hash by which a recording identifies its source."""
    return hashlib.sha256(text.encode()).hexdigest()


def text_of_c(source: Path) -> str:
    """The text of a C or C++ file.

    Raises ValueError if the file or its name is not UTF-8, and OSError.
    """
    name = source.name
    if not source.stem.strip(".") or name.encode("utf-8", "replace") != os.fsencode(name):
        raise ValueError(f"{name!a} cannot be the name of a program; rename the file, to own.c")
    # Its own name may be a link: the person who measures has chosen it.
    content = read_bounded(source.resolve(), MOST_FILE_BYTES)
    if content.startswith(_OTHER_MARKS):
        what = "begins with a byte-order mark, which Notepad may write"
    elif b"\0" in content:
        what = "has zero bytes, as text in UTF-16 has"
    else:
        try:
            return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            what = f"has characters in line {line} that are not UTF-8"
    raise ValueError(f"{source} {what}; save it as UTF-8 (without BOM) in your editor")


def build(source: Path, flags: tuple[str, ...] = DEFAULT_FLAGS) -> Binary:
    """Build the C or C++ file `source`. Raises NoCompiler, CompileError, ValueError, OSError."""
    language = language_of(source.name) or C
    text = text_of_c(source)
    return build_text(text, source.stem, flags, shown_as=source.name, language=language)


def build_text(
    text: str,
    name: str,
    flags: tuple[str, ...] = DEFAULT_FLAGS,
    *,
    shown_as: str | None = None,
    first_line: int = 1,
    language: Language = C,
) -> Binary:
    """Build source from a string.

    `name` is the name of the program. Compiler messages call the source `shown_as` (a file or a
    notebook cell) and number its first line `first_line`. The source may include headers of the kit
    by name. Raises NoCompiler, CompileError, OSError.
    """
    compiler = find_compiler(language)
    ingredients = [text, _headers_hash(), shown_as or "", str(first_line)]
    for each in _languages(flags, language):
        ingredients += [find_compiler(each).version, *_command(each)]
    ingredients += [*flags, fingerprint(flags, text, language)]
    key = hashlib.sha256("\0".join(ingredients).encode()).hexdigest()
    folder = paths.cache() / "programs" / key[:32]
    options = tuple(itertools.dropwhile(lambda word: word[:1] != "-", compiler.command))
    binary = Binary(folder / name, name, source_hash(text), flags, compiler.version, options)
    if not binary.path.is_file():
        _compile(text, language, binary, shown_as or f"{name}.c", first_line)
    return binary


def _command(language: Language) -> list[str]:
    """The compiler with the flags of every build, and with the folders of the kit's headers."""
    command = [*find_compiler(language).command, *language.flags]
    # Broken C kernels need the second folder: they include "../harness.h", also from a cell.
    for folder in (paths.kernels_c(), paths.kernels_c() / "broken"):
        command += ["-I", str(folder)]
    return command


def _languages(flags: Sequence[str], own: Language) -> list[Language]:
    """The languages of the sources, without repetition; the last one links them: C++ if there is
    any."""
    found = {own, *filter(None, map(language_of, in_order(flags)[1]))}
    return [each for each in (C, CPP) if each in found]


def _fitting(words: Sequence[str], language: Language) -> list[str]:
    """The words of a command without the standard of another language."""
    return [
        word
        for word in words
        if not word.startswith("-std=") or ("++" in word) == (language is CPP)
    ]


def _headers_hash() -> str:
    digest = hashlib.sha256()
    for header in sorted(paths.kernels_c().glob("*.h")):
        digest.update(header.read_bytes())
    return digest.hexdigest()


def _compile(text: str, language: Language, binary: Binary, shown_as: str, first_line: int) -> None:
    binary.path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=binary.path.parent, prefix=".build-") as work:
        source = Path(work) / f"{binary.name}.{'c' if language is C else 'cpp'}"
        label = " ".join(shown_as.split()).replace("\\", "/").replace('"', "'")
        source.write_text(f'#line {first_line} "{label}"\n{text}', encoding="utf-8")
        built = Path(work) / binary.name
        before, after = in_order(binary.flags)
        *others, linking = _languages(binary.flags, language)
        linked = [str(source), *after]
        for number, word in enumerate(linked):
            if language_of(word) in others:
                # A C++ compiler would take C for C++.
                linked[number] = str(Path(work) / f"{number}.o")
                compiled = [each for each in before if not each.startswith(("-Wl,", "-L"))]
                command = [*_command(C), *_fitting(compiled, C), "-c", word, "-o", linked[number]]
                _must_succeed(command, C, binary, shown_as)
        command = [*_command(linking), *_fitting(before, linking), *linked, "-o", str(built), "-lm"]
        _must_succeed(command, linking, binary, shown_as)
        if not built.is_file():
            compiler = find_compiler(linking)
            why = f"{shlex.join(compiler.command)} makes no program"
            raise NoCompiler(why, _another(linking))
        # We rename the finished program, so that another build of it never finds an unfinished one.
        built.replace(binary.path)


def _must_succeed(command: list[str], language: Language, binary: Binary, shown_as: str) -> None:
    """Run a command of the compiler. Raises CompileError, NoCompiler."""
    try:
        environment = {**os.environ, "LC_ALL": "C"}
        done = paths.run(command, COMPILE_TIME_LIMIT_S, paths.HERE, environment)
    except subprocess.TimeoutExpired as error:
        raise CompileError(
            binary.name, (), f"the compiler took more than {COMPILE_TIME_LIMIT_S} s"
        ) from error
    if done.returncode == 0:
        return
    if os.strerror(errno.ENOSPC) in done.stderr:
        full = f"the disk of {binary.path.parent} is full, where the kit builds programs"
        raise NoCompiler(full, _ANOTHER_CACHE)
    messages = _messages(done.stderr)
    _must_have_headers(language, messages)
    if not messages and _NO_MAIN.search(done.stderr):
        raise CompileError(shown_as, (), not_a_c_kernel("it has no main"))
    raise CompileError(shown_as, messages, done.stderr)


def _must_have_headers(language: Language, messages: tuple[CompileMessage, ...]) -> None:
    """Raises NoCompiler if a header of the kit includes one that the compiler does not find."""
    kit, name = paths.kernels_c(), language.variable
    for each in messages:
        lacking = _NOT_INCLUDED.search(each.text)
        if lacking and Path(each.file).is_absolute() and Path(each.file).is_relative_to(kit):
            compiler = find_compiler(language)
            raise NoCompiler(
                f"{shlex.join(compiler.command)} ({compiler.version}) does not find {lacking[1]}, "
                "which the C kernels include",
                "The labs need gcc or clang with the headers of the C library and of Linux"
                + (f": unset {name}" if os.environ.get(name) else f". {language.install}"),
            )


def _messages(text: str) -> tuple[CompileMessage, ...]:
    return tuple(
        CompileMessage(file, int(line), int(column) if column else None, severity, words)
        for file, line, column, severity, words in _MESSAGE.findall(text)
    )


def disassembly(binary: Binary, function: str) -> str:
    """The machine code of `function` from objdump. Raises LookupError if it cannot be shown."""
    objdump = paths.program("objdump")
    if objdump is None:
        raise LookupError("objdump is not installed (Debian: package binutils)")
    words = [objdump, "--disassemble=" + function, "--no-show-raw-insn", str(binary.path)]
    done = paths.run(words, 30)
    match = re.search(
        rf"^[0-9a-f]+ <{re.escape(function)}>:\n(.*?)(?:\n\n|\Z)", done.stdout, re.M | re.S
    )
    if done.returncode != 0 or match is None:
        found = paths.run([objdump, "--syms", str(binary.path)], 30).stdout
        # What times a student's own functions is called so: own_others has `other` inlined.
        timed = re.findall(r" F \.text\S*\s+\S+\s+(own_\w+)$", found, re.M)
        meant = terminal.meant(f"own_{function}", timed)
        raise LookupError(
            f"{binary.name} has no function {function}: perhaps it was inlined, or it has another "
            f"name{f'. Did you mean {meant}?' if meant else ''}"
        )
    return match[1]


# The optimisation level.

#: The level that a compiler uses if the flags name none, and the level that plain -O means.
DEFAULT_LEVEL, PLAIN_LEVEL = "-O0", "-O1"


def optimisation_level(flags: str) -> str | None:
    """The optimisation level in `flags`, the last one of several; None if they cannot be parsed."""
    try:
        words = shlex.split(flags)
    except ValueError:
        return None
    levels = [word for word in words if word.startswith("-O")]
    last = levels[-1] if levels else DEFAULT_LEVEL
    return PLAIN_LEVEL if last == "-O" else last


# The functions that a built program takes from libraries: the compiler may have removed a call.

NM_TIME_LIMIT_S = 30


def imported_by(binary: Binary) -> tuple[str, ...] | None:
    """The names that `binary` imports, in order; None if this machine has no `nm` to list them."""
    nm = paths.program("nm")
    if nm is None:
        return None
    try:
        done = paths.run([nm, "-u", str(binary.path)], NM_TIME_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return names_listed_by_nm(done.stdout) if done.returncode == 0 else None


def names_listed_by_nm(listed: str) -> tuple[str, ...]:
    """The names in what `nm -u` prints, in order, as they stand in C.

    Linux prints "U read@GLIBC_2.2.5", with a "w" for a name that need not exist; macOS "_read".
    """
    lines = [words for line in listed.splitlines() if (words := line.split())]
    return tuple(
        sorted({words[-1].partition("@")[0].lstrip("_") for words in lines if words[0] not in "wv"})
    )


# Code of a project that a C kernel calls: its headers, its sources and its libraries.
#
# A build names them by words of the compiler's command: `-I DIR`, further sources, `-L DIR`, `-l`.

#: What the linker takes: its order matters, so it stands after the source that needs it.
_LINKED = (*SOURCES, ".o", ".a", ".so", ".dylib")
#: Flags whose value is the next word.
_WITH_VALUE = ("-I", "-L", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter", "-o", "-x")
_FROM_ELSEWHERE = ("-I", "-L", "-l", "-include", "-isystem", "-iquote", "-idirafter")
_LIBRARY_FILES = ("lib{}.so", "lib{}.a", "lib{}.dylib")
_AT_ONCE = 1 << 20


def project_words(
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
    run_paths = [f"-Wl,-rpath,{Path(folder).absolute()}" for folder in _values_of("-L", flags)]
    return [*before, *run_paths], after


def fingerprint(flags: Sequence[str], text: str, language: Language = C) -> str:
    """A hash of everything from elsewhere that goes into the build of `text`; '' if nothing does.

    A header that changed, or a library that was built anew, gives another hash, so that no old
    program is run. A source that the compiler refuses here is refused by the build, too, and never
    becomes a program.
    """
    before, after = in_order(flags)
    if not after and not any(word.startswith(_FROM_ELSEWHERE) for word in before):
        return ""
    digest = hashlib.sha256()
    for each in _languages(flags, language):
        sources = [word for word in after if language_of(word) is each]
        words = [*_command(each), *_fitting(before, each), "-E", *sources]
        words += ["-x", each.word, "-"] if each is language else []
        pipe = subprocess.PIPE
        with paths.start(words, paths.HERE, stdin=pipe, stdout=pipe, stderr=pipe) as preprocessing:
            try:
                digest.update(preprocessing.communicate(text.encode(), COMPILE_TIME_LIMIT_S)[0])
            except subprocess.TimeoutExpired:  # the build takes as long, and says so
                preprocessing.kill()
    for file in _linked_files(flags, after):
        digest.update(f"\0{file.absolute()}\0".encode())  # where the program will look for it
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


#: What the linkers of GNU, LLVM and macOS print if there is no function main.
_NO_MAIN = re.compile(r"undefined (?:reference to|symbol:) [`']?main\b|\"_main\", referenced from")


def not_a_c_kernel(why: str) -> str:
    """What to tell somebody whose C compiles, and cannot be measured. `why` is a main clause."""
    return (
        f'this is not a C kernel: {why}. A C kernel includes "harness.h" and ends with '
        "MEASURE(...), which is its main. `labs new my_function` writes one for you to change; "
        f"another one is {paths.kernels_c() / 'procedure_call.c'}"
    )


# The measured region, also that of one variant with the variant's operation.
#
# A C kernel writes its timed region once, as a macro, and names each variant's operation in one
# line:
#
#     INTERVAL(getppid_raw, raw_call(SYS_getppid, 0, 0) == parent)

_MACRO = re.compile(r"^#define (\w+)\(([^)]*)\)\s*\\\n((?:.*\\\n)*.*)$", re.MULTILINE)
_USE = re.compile(r"^(\w+)\((\w+),((?:[^\n]|\n[ \t])*)\)$", re.MULTILINE)


def measured_region(source: str) -> str:
    """The lines between `measured region begins` and `measured region ends`, shifted to the left.

    Raises ValueError if the marks are missing.
    """
    # Not by one pattern for both marks, which could take quadratic time.
    after = source.partition("measured region begins")[2].partition("\n")[2]
    region, ends, _ = after.partition("measured region ends")
    if not ends:
        raise ValueError("no comments 'measured region begins' and 'measured region ends'")
    lines = [
        line.removesuffix("\\").rstrip() if line.endswith("\\") else line
        for line in region.split("\n")[:-1]
    ]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines)


def region_of(source: str, variant: str) -> str:
    """The measured region of `variant`, or the first region of the source if that is not found.

    Raises ValueError if the source has no region.
    """
    macros = {
        name: ([each.strip() for each in parameters.split(",")], body)
        for name, parameters, body in _MACRO.findall(source)
        if "measured region begins" in body
    }
    named = _words_of(source, variant)
    for macro, function, rest in _USE.findall(source):
        if macro not in macros or function not in named:
            continue
        parameters, body = macros[macro]
        arguments = [function, *arguments_of(" ".join(rest.split()))]
        if len(arguments) == len(parameters):
            return _expanded(measured_region(body), dict(zip(parameters, arguments, strict=True)))
    return measured_region(source)


def _words_of(source: str, variant: str) -> set[str]:
    """The words in the entry of `variant` in the table of variants; one of them is its function.

    A macro may define several entries, such as `.name = "fork-" #size`. Of those that match, we
    take the one with the longest beginning.
    """
    entries = {
        name + ("*" if pasted else ""): entry
        for name, pasted, entry in re.findall(
            r'\.name = "([^"]*)"( #\w+)?,(.*?)(?=\.name = "|\n};)', source, re.DOTALL
        )
    }
    matching = [name for name in entries if name.endswith("*") and variant.startswith(name[:-1])]
    entry = entries.get(variant) or entries.get(max(matching, key=len, default=""), "")
    return set(re.findall(r"\w+", re.sub(r'"[^"\n]*"', "", entry)))


def arguments_of(text: str) -> list[str]:
    """`text` split at its commas, except at commas within brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _expanded(region: str, arguments: dict[str, str]) -> str:
    """`region` with the arguments of a macro in place of its parameters, without extra brackets."""
    expanded = re.sub(r"\w+", lambda word: arguments.get(word[0], word[0]), region)
    return re.sub(r"!\((\w+\([^()]*\))\)", r"!\1", expanded)


# Registers that inline assembly overwrites without telling the compiler.

#: x86-64: `syscall` keeps the address to return to in rcx and the flags in r11.
OVERWRITTEN_BY_SYSCALL = ("rcx", "r11")

#: An operand of assembly that the assembly writes into rcx, such as `"+c"(buffer)`.
_WRITES_RCX = re.compile(r'"[=+]&?c"')

#: Inline assembly is searched to this length; a longer one is not looked at.
MOST_ASM_CHARACTERS = 2_000

_ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)


def missing_clobbers(source: str) -> tuple[str, ...]:
    """The registers that a `syscall` in `source` overwrites without naming them as such.

    A clobber names one, and so does an operand that is written.
    """
    code = _COMMENT.sub(" ", source)
    for begin in _ASM.finditer(code):
        statement, end, _ = code[begin.start() : begin.start() + MOST_ASM_CHARACTERS].partition(
            ");"
        )
        if end and re.search(r"\bsyscall\b", statement):
            named = "rcx" if _WRITES_RCX.search(statement) else ""
            found = tuple(
                name
                for name in OVERWRITTEN_BY_SYSCALL
                if f'"{name}"' not in statement and name != named
            )
            if found:
                return found
    return ()
