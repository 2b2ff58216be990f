"""`labs list`: what can be measured, from files alone, and as true as what the C kernels list."""

from __future__ import annotations

import json

import pytest

from labs import paths
from labs.c_kernels import catalogue
from labs.c_kernels.toolchain import c_kernel_names
from labs.commands.cli import main
from labs.course import lab_names
from labs.run import broken
from support.c_programs import LINUX
from support.variants import as_listed


@LINUX
@pytest.mark.slow
def test_the_catalogue_is_what_the_c_kernels_list() -> None:
    stated = json.loads(catalogue.FILE.read_text(encoding="utf-8"))
    assert stated == as_listed(), "run: python -m support.lists"


def test_every_c_kernel_is_in_one_group_and_asks_a_question() -> None:
    assert sorted(catalogue.names()) == list(c_kernel_names()), (
        "each C kernel needs a group in labs/c_kernels/catalogue.py"
    )
    assert all(kernel.measures.endswith("?") for kernel in catalogue.all_kernels())


def test_every_c_kernel_and_variant_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    for kernel in catalogue.all_kernels():
        assert f"  {kernel.name}: {kernel.measures}\n" in text
        shown = text.partition(f"  {kernel.name}: ")[2].split("\n")[1].strip()
        assert shown == ", ".join(catalogue.short(list(kernel.variants)))
    assert main(["list", "switch_footprint"]) == 0
    text = capsys.readouterr().out
    for name, about in catalogue.of_name("switch_footprint").variants.items():
        assert any(
            line.split(None, 1) == [name, about] for line in text.splitlines() if line.strip()
        )


def test_only_whole_families_are_written_as_one() -> None:
    for names, short in (
        (("args0", "args1", "args2", "loop"), ["args{0..2}", "loop"]),
        (("loop", "a-2-0", "a-2-4k", "a-8-0", "a-8-4k"), ["loop", "a-{2,8}-{0,4k}"]),
        # Not whole: one of the four would be a name that there is not.
        (("a-2-0", "a-2-4k", "a-8-0"), ["a-2-0", "a-2-4k", "a-8-0"]),
        (("read0", "read1"), ["read0", "read1"]),
        (("fork-1mb", "fork-2mb", "fork-1gb"), ["fork-{1mb,2mb,1gb}"]),
        (("args1", "args3", "args5"), ["args{1,3,5}"]),
        ((), []),
    ):
        assert catalogue.short(names) == short


def test_a_list_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert [each["kernel"] for each in stated] == list(catalogue.names())
    (calls,) = (each for each in stated if each["kernel"] == "system_call")
    assert {"name": "loop", "about": "the empty loop"} in calls["variants"]
    assert main(["list", "system_call", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == calls


def test_broken_c_kernels_are_grouped_by_what_they_try_to_measure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["list", "--broken"]) == 0
    text = capsys.readouterr().out
    assert main(["broken"]) == 0
    assert capsys.readouterr().out == text
    group, found = "", {}
    for line in text.splitlines():
        if line and not line.startswith(" "):
            group = line.partition(":")[0]
        elif line:
            found[line.split()[0]] = group
    assert found == {each.name: each.repaired for each in broken.all_of_them()}
    assert main(["list", "--broken", "--json"]) == 0
    assert {each["name"] for each in json.loads(capsys.readouterr().out)} == set(found)


def test_the_labs_with_their_questions_and_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--labs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[: lines.index("")]] == list(lab_names.labs())
    assert "03-system-call                45 min  What does a system call cost?" in lines
    assert main(["list", "--labs", "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert all(each["asks"].endswith("?") and each["minutes"] > 0 for each in stated)


def test_what_cannot_be_listed_is_explained(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["list", "sytem_call"]) == 2
    assert "did you mean system_call?" in capsys.readouterr().err
    assert main(["list", "system_call", "--labs"]) == 2
    assert "not both" in capsys.readouterr().err

    def missing() -> None:
        raise paths.PartMissing("the labs are missing")

    monkeypatch.setattr(paths, "released", missing)
    assert main(["list", "--labs"]) == 2
    assert capsys.readouterr().err == "labs list: the labs are missing\n"


def test_a_lab_is_named_by_its_number_or_its_name() -> None:
    for word, lab in (
        ("3", "03-system-call"),
        ("03", "03-system-call"),
        ("03-system-call", "03-system-call"),
        ("33", None),
        ("system", None),
        ("", None),
        ("0" * 5000, None),
        ("³", None),
    ):
        assert lab_names.lab_meant(word) == lab
