"""C source into a program, and compile errors in the reader's lines."""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from labs import paths
from labs.c_kernels import toolchain
from labs.c_kernels.toolchain import CompileError, NoCompiler, build, build_text, measured_region
from labs.machine import fitness
from support.programs import call

HELLO = '#include <stdio.h>\nint main(void)\n{\n    printf("%s\\n", WORD);\n    return 0;\n}\n'
ONE = ("-O2", '-DWORD="one"')
TWO = ("-O2", '-DWORD="two"')


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def said(binary: toolchain.Binary) -> str:
    return call(binary.path, check=True).stdout


# Building and keeping


def test_a_program_is_built_from_text() -> None:
    assert said(build_text(HELLO, "hello", ONE)) == "one\n"


def test_the_released_c_kernels_build_and_list() -> None:
    for name in toolchain.c_kernel_names():
        binary = build(toolchain.c_kernel_source(name))
        done = subprocess.run([str(binary.path), "--list"], capture_output=True, check=True)
        assert b"variant,about,missing" in done.stdout


def test_the_same_thing_is_built_once(cache: Path) -> None:
    first = build_text(HELLO, "hello", ONE)
    stamp = first.path.stat().st_mtime_ns
    assert build_text(HELLO, "hello", ONE) == first
    assert first.path.stat().st_mtime_ns == stamp
    assert len(list((cache / "programs").iterdir())) == 1


def test_flags_source_headers_and_compiler_each_make_another_program(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {build_text(HELLO, "hello", ONE).path}
    programs.add(build_text(HELLO, "hello", TWO).path)
    programs.add(build_text(HELLO + "\n", "hello", ONE).path)
    gcc = shutil.which("gcc")
    assert gcc is not None
    monkeypatch.setenv("CC", f"{gcc} -g")
    with_options = build_text(HELLO, "hello", ONE)
    assert with_options.options == ("-g",)
    programs.add(with_options.path)
    monkeypatch.delenv("CC")
    headers = tmp_path / "kernels_c"
    shutil.copytree(paths.kernels_c(), headers)
    with (headers / "harness.h").open("a") as header:
        header.write("/* changed */\n")
    monkeypatch.setattr(paths, "kernels_c", lambda: headers)
    programs.add(build_text(HELLO, "hello", ONE).path)
    assert len(programs) == 5
    # In the same folder, too, as after an update of the kit.
    with (headers / "counter.h").open("a") as header:
        header.write("/* changed */\n")
    programs.add(build_text(HELLO, "hello", ONE).path)
    assert len(programs) == 6


def test_eight_builds_at_once_give_whole_programs(cache: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        built = list(pool.map(lambda _: said(build_text(HELLO, "hello", ONE)), range(8)))
    assert built == ["one\n"] * 8
    (folder,) = (cache / "programs").iterdir()
    assert [item.name for item in folder.iterdir()] == ["hello"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xef\xbb\xbf" + HELLO.encode(), "a byte-order mark"),
        (HELLO.encode("utf-16"), "a byte-order mark"),
        (HELLO.encode("utf-16-be"), "zero bytes, as text in UTF-16"),
        (HELLO.encode("utf-16-le"), "zero bytes, as text in UTF-16"),
        (HELLO.encode() + b"\0", "zero bytes"),
        (HELLO.encode() + b"// caf\xe9\n", "characters in line 7 that are not UTF-8"),
    ],
)
def test_c_of_another_encoding_is_refused_by_name(
    content: bytes, what: str, tmp_path: Path, cache: Path
) -> None:
    path = tmp_path / "own.c"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"own.c .*{what}.*; save it as UTF-8"):
        build(path, ONE)


@pytest.mark.parametrize("name", [b"x\xff.c", b"..c", b"...c"])
def test_a_file_whose_name_no_program_can_have_is_named(
    name: bytes, tmp_path: Path, cache: Path
) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_text(HELLO)
    with pytest.raises(ValueError, match=r"\.c' cannot be the name of a program; rename the file"):
        build(path, ONE)
    assert not cache.exists()


def test_lines_end_as_on_windows_or_an_old_mac(tmp_path: Path, cache: Path) -> None:
    hashes = set()
    for end in ("\n", "\r\n", "\r"):
        (tmp_path / "own.c").write_bytes(HELLO.replace("\n", end).encode())
        hashes.add(build(tmp_path / "own.c", ONE).source_sha256)
    assert len(hashes) == 1


def test_a_failed_build_leaves_nothing_behind(cache: Path) -> None:
    with pytest.raises(CompileError):
        build_text("int main(void) { return x; }", "bad")
    (folder,) = (cache / "programs").iterdir()
    assert list(folder.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "file"))
    with pytest.raises(paths.CacheNotWritable, match="Set TICKLAB_CACHE"):
        build_text(HELLO, "hello", ONE)


def test_in_a_shared_cache_each_user_has_an_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (tmp_path / "link").symlink_to(shared)
    for name in ("shared", "link"):
        monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / name))
        own = paths.cache()
        assert own == shared / f"of-user-{os.getuid()}"
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert build_text(HELLO, "hello", ONE).path.is_relative_to(own)


def test_the_usual_cache_is_private_whatever_a_group_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TICKLAB_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "new" / name)
    before = os.umask(0o002)
    try:
        folder = paths.cache()
        assert folder == tmp_path / "new" / "ticklab"
        folder.chmod(0o2775)
        assert paths.cache() == folder
        monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path / "asked"))
        assert paths.cache() == tmp_path / "asked"
    finally:
        os.umask(before)
    for each in (folder, tmp_path / "asked"):
        assert stat.S_IMODE(each.stat().st_mode) & 0o777 == 0o700
    assert list(folder.iterdir()) == []


def shared_without_sticky(folder: Path) -> None:
    folder.chmod(0o777)


def shared_by_a_group(folder: Path) -> None:
    folder.chmod(0o2775)


def others_may_write_mine(folder: Path) -> None:
    folder.chmod(0o1777)
    (folder / f"of-user-{os.getuid()}").mkdir(mode=0o700)
    (folder / f"of-user-{os.getuid()}").chmod(0o770)


def mine_is_a_link(folder: Path) -> None:
    folder.chmod(0o1777)
    (folder / "elsewhere").mkdir()
    (folder / f"of-user-{os.getuid()}").symlink_to(folder / "elsewhere")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_runs_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKLAB_CACHE", str(tmp_path))
    tmp_path.chmod(0o1777)
    own = paths.cache()
    os.chown(own, 65534, 65534)
    with pytest.raises(paths.CacheNotWritable, match=f"{own} is not safe"):
        build_text(HELLO, "hello", ONE)
    os.chown(own, 0, 0)
    os.chown(tmp_path, 65534, 65534)
    tmp_path.chmod(0o755)
    assert paths.cache() == own


@pytest.mark.parametrize(
    "exposed",
    [shared_without_sticky, shared_by_a_group, others_may_write_mine, mine_is_a_link],
)
def test_a_cache_that_others_can_change_is_refused(
    exposed: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    exposed(folder)
    monkeypatch.setenv("TICKLAB_CACHE", str(folder))
    with pytest.raises(
        paths.CacheNotWritable, match=r"is not safe: other users may write in .*own"
    ):
        build_text(HELLO, "hello", ONE)
    assert not (folder / "programs").exists()


# Errors


def test_an_error_is_told_in_the_line_of_the_cell() -> None:
    source = "int main(void)\n{\n    return undefined_thing;\n}\n"
    with pytest.raises(CompileError) as refused:
        build_text(source, "mine", shown_as="cell 7")
    message = refused.value.messages[0]
    assert (message.file, message.line, message.severity) == ("cell 7", 3, "error")
    assert "undefined_thing" in message.text and message.column == 12
    assert str(refused.value).startswith("cell 7, line 3: error: ")


def test_the_first_line_may_have_another_number() -> None:
    with pytest.raises(CompileError) as refused:
        build_text("int main(void) { return x; }", "mine", shown_as="notes.c", first_line=40)
    assert refused.value.messages[0].line == 40


def test_a_missing_header_is_told_in_its_line() -> None:
    with pytest.raises(CompileError) as refused:
        build_text('\n#include "nowhere.h"\n', "mine", shown_as="cell 1")
    assert str(refused.value).startswith("cell 1, line 2: fatal error: nowhere.h")


def test_an_error_of_the_linker_is_told() -> None:
    with pytest.raises(CompileError, match="nowhere_defined"):
        build_text(
            "int nowhere_defined(void);\nint main(void) { return nowhere_defined(); }", "mine"
        )


def test_a_warning_alone_is_no_error() -> None:
    build_text("int main(void) { int unused; return 0; }", "mine")


def test_a_warning_beside_an_error_is_kept_but_not_shouted() -> None:
    with pytest.raises(CompileError) as refused:
        build_text("int main(void) { int unused; return x; }", "mine")
    assert {message.severity for message in refused.value.messages} == {"warning", "error"}
    assert "unused" not in str(refused.value)


def test_an_unknown_flag_is_told() -> None:
    with pytest.raises(CompileError, match="no-such-flag"):
        build_text(HELLO, "hello", ("-fno-such-flag",))


@pytest.mark.parametrize("label", ['a "quoted" cell', "a\\b", "cell\n#error injected", "ü"])
def test_any_name_may_be_shown(label: str) -> None:
    with pytest.raises(CompileError) as refused:
        build_text("int main(void) { return x; }", "mine", shown_as=label)
    assert [message.line for message in refused.value.messages] == [1]
    assert "injected" not in refused.value.messages[0].text


def test_messages_do_not_depend_on_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    with pytest.raises(CompileError) as refused:
        build_text("int main(void) { return x; }", "mine")
    assert refused.value.messages[0].severity == "error"


# Finding


def test_no_compiler_says_how_to_get_one(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NoCompiler, match="sudo apt install gcc") as told:
        build_text(HELLO, "hello", ONE)
    assert f"gcc, cc, clang are not in {tmp_path}" in str(told.value)


@pytest.mark.parametrize("path", [None, "", ".:bin"])
def test_without_a_path_the_usual_folders_are_searched(
    path: str | None, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler searches them too, for its linker."""
    if not any(Path(folder, "gcc").exists() for folder in os.defpath.split(os.pathsep)):
        pytest.skip("gcc is in no usual folder")
    monkeypatch.delenv("CC", raising=False)
    if path is None:
        monkeypatch.delenv("PATH")
    else:
        monkeypatch.setenv("PATH", path)
    assert Path(toolchain.find_compiler().path).name == "gcc"
    assert said(build_text(HELLO, "hello", ONE)) == "one\n"


#: Compilers, and the header that each lacks.
OTHER_COMPILERS = {
    "tcc": "cpuid.h",
    "musl-gcc": "linux/seccomp.h",
    "./like-tcc": "cpuid.h",
    "./like-musl-gcc": "linux/seccomp.h",
    "./like-clang": "sys/auxv.h",
}
#: Made up, because few machines have them: how each says that it does not find a header.
MADE_UP = {
    "./like-tcc": "{header}:16: error: include file 'cpuid.h' not found",
    "./like-musl-gcc": "{header}:16:10: fatal error: linux/seccomp.h: No such file or directory",
    "./like-clang": "{header}:16:10: fatal error: 'sys/auxv.h' file not found",
}
COMPILER = """#!/bin/sh
test "$1" = --version && echo "a compiler of another kind" && exit
case "$*" in *hello.c*) exec gcc "$@";; esac
echo "{said}" >&2
exit 1
"""


@pytest.mark.parametrize("compiler", OTHER_COMPILERS)
def test_a_compiler_that_lacks_a_header_of_the_kit_is_named(
    compiler: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiler in MADE_UP:
        made = tmp_path / compiler
        words = MADE_UP[compiler].format(header=paths.kernels_c() / "conditions.h")
        made.write_text(COMPILER.format(said=words))
        made.chmod(0o755)
        monkeypatch.setenv("CC", str(made))
    elif shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    else:
        monkeypatch.setenv("CC", compiler)
    with pytest.raises(NoCompiler, match="unset CC") as told:
        build(toolchain.c_kernel_source("timer_overhead"))
    assert f"does not find {OTHER_COMPILERS[compiler]}" in told.value.why
    assert Path(compiler).name in told.value.why
    trials = fitness.try_all(None)
    assert "does not find" in (trials.compiler.problem or "")
    assert trials.counter is None and trials.counter_problem is None


@pytest.mark.parametrize(
    ("then", "why", "remedy"),
    [
        ("exit 0", "makes no program", "Unset CC"),
        ("echo ld: No space left on device >&2; exit 1", "is full, where the kit", "TICKLAB_CACHE"),
    ],
)
def test_a_build_that_leaves_no_program_says_what_to_do(
    then: str, why: str, remedy: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "compiler"
    made.write_text(f'#!/bin/sh\ncase "$*" in *version*) exec gcc --version;; esac\n{then}\n')
    made.chmod(0o755)
    monkeypatch.setenv("CC", str(made))
    with pytest.raises(NoCompiler, match=why) as told:
        build_text(HELLO, "hello", ONE)
    assert remedy in told.value.remedy


def test_a_header_that_the_students_own_c_lacks_is_a_line_of_it(cache: Path) -> None:
    with pytest.raises(CompileError, match=r"mine\.c, line 2: fatal error: .*my\.h"):
        build_text('#include "harness.h"\n#include "my.h"\n', "mine", shown_as="mine.c")


@pytest.mark.parametrize("command", ["no-such-compiler", "/nowhere/gcc -O2", "   "])
def test_a_compiler_of_ones_own_that_is_not_there_is_told(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", command)
    with pytest.raises(NoCompiler, match="Unset CC"):
        toolchain.find_compiler()


def test_an_unfinished_quote_in_cc_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "gcc '-O2")
    with pytest.raises(NoCompiler, match="CC"):
        toolchain.find_compiler()


def test_a_program_that_is_no_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(NoCompiler, match="--version fails"):
        toolchain.find_compiler()


def test_a_compiler_of_ones_own_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    gcc = shutil.which("gcc")
    assert gcc is not None
    monkeypatch.setenv("CC", f"{gcc} -O1")
    assert toolchain.find_compiler().command == (gcc, "-O1")


@pytest.mark.slow
def test_the_wheel_with_a_compiler_does_where_there_is_no_other(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = pytest.importorskip("ziglang", reason="the ziglang wheel is not installed")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "zig"))
    # Without Python, which would run what is called ziglang.py in the folder of a student.
    zig = str(Path(wheel.__file__).with_name("zig"))
    assert toolchain.find_compiler().command == (zig, "cc")
    binary = build(toolchain.c_kernel_source("timer_overhead"))
    done = subprocess.run([str(binary.path), "--samples", "5"], capture_output=True, check=True)
    assert b"variant,sample,batch,ticks" in done.stdout


@pytest.mark.parametrize("name", ["sundial", "", "../labs/timer", "timer_overhead.h", "a b"])
def test_an_unknown_c_kernel_is_told_with_those_there_are(name: str) -> None:
    with pytest.raises(FileNotFoundError, match="timer_overhead"):
        toolchain.c_kernel_source(name)


def test_a_file_of_ones_own_is_a_c_kernel(tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text(HELLO)
    assert toolchain.c_kernel_source(str(source)) == source
    with pytest.raises(FileNotFoundError, match="there is no file"):
        toolchain.c_kernel_source(str(tmp_path / "other.c"))


# Showing


def test_the_measured_region_is_what_stands_between_the_marks() -> None:
    source = paths.kernels_c() / "timer_overhead.c"
    region = measured_region(source.read_text())
    assert region.splitlines() == [
        "const uint64_t begin = begin_reading;",
        "ADD_CHAIN(link, k);",
        "const uint64_t end = end_reading;",
    ]


def test_a_source_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="measured region begins"):
        measured_region(HELLO)


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not installed")
def test_the_disassembly_of_a_function_is_shown() -> None:
    binary = build_text(HELLO, "hello", ONE)
    assert "ret" in toolchain.disassembly(binary, "main")
    with pytest.raises(LookupError, match="no function nowhere"):
        toolchain.disassembly(binary, "nowhere")
    timed = build_text(f"{HELLO}int own_others(void) {{ return 1; }}\n", "hello", ONE)
    with pytest.raises(LookupError, match=r"Did you mean own_others\?"):
        toolchain.disassembly(timed, "other")


def test_without_objdump_the_disassembly_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = build_text(HELLO, "hello", ONE)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(LookupError, match="binutils"):
        toolchain.disassembly(binary, "main")


@pytest.mark.parametrize(
    "text",
    ["measured region begins\n" * 10_000, "measured region begins\n" + " " * 200_000],
    ids=["many that never end", "white space"],
)
def test_marks_of_any_number_are_looked_through_at_once(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(ValueError, match="no comments"):
        measured_region(text)
    assert measured_region(f"{text}\n/* measured region ends */") is not None
    assert time.process_time() - begin < 5


def test_c_without_main_is_said_to_be_no_c_kernel(cache: Path) -> None:
    with pytest.raises(CompileError, match=r"f\.c: this is not a C kernel: it has no main") as told:
        build_text("int f(int x) { return x * 3; }\n", "f")
    assert "MEASURE(...)" in str(told.value)
