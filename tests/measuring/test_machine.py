"""Facts of odd machines, read from small trees that look like /proc and /sys."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from labs import files as pseudo_files
from labs.machine import description, surroundings
from labs.machine.description import Machine, read_machine
from labs.recording import run_conditions
from support.paths import REPOSITORY
from support.plain_machine import PLAIN


def machine_of(tmp_path: Path, files: dict[str, str]) -> Machine:
    """What is read where exactly these files are, by path from the root folder."""
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read_machine(tmp_path / "proc", tmp_path / "sys", tmp_path)


def test_this_machine_is_read_and_shown() -> None:
    machine = read_machine()
    assert machine.architecture
    assert machine.cpus_online is not None and machine.cpus_online >= 1
    assert machine.os_kernel in machine.card()


def test_a_machine_that_shows_nothing_is_read_without_error(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, {})
    unread = {"governor", "turbo", "smt", "clock_source", "seccomp", "cpu_quota", "container"}
    assert {name for name in unread if getattr(machine, name) is not None} == set()
    assert machine.steal is None
    assert "cannot be read here" in machine.card()


def test_rubbish_in_every_file_is_no_fact(tmp_path: Path) -> None:
    rubbish = "\0\xff: ²\n-1 nan\n"
    names = (
        "proc/cpuinfo proc/stat proc/meminfo proc/loadavg proc/self/status proc/self/cgroup "
        "sys/devices/system/cpu/online sys/devices/system/cpu/smt/active sys/fs/cgroup/cpu.max"
    )
    machine = machine_of(tmp_path, dict.fromkeys(names.split(), rubbish))
    unread = ("smt", "steal", "cpu_quota", "seccomp")
    assert [getattr(machine, name) for name in unread] == [None] * 4


def test_bare_x86_with_everything(tmp_path: Path) -> None:
    cpu = "sys/devices/system/cpu"
    machine = machine_of(
        tmp_path,
        {
            "proc/cpuinfo": "processor : 0\nmodel name\t: Fast   CPU @ 3 GHz\nflags : fpu tsc\n",
            "proc/self/status": "Name:\tx\nSeccomp:\t2\n",
            "proc/loadavg": "1.50 1.00 0.50 1/100 99\n",
            "proc/stat": "cpu  10 0 10 60 0 0 0 20 0 0\ncpu0 1 2 3\n",
            "proc/meminfo": "MemTotal:        1024 kB\nMemFree: 1 kB\n",
            "proc/sys/kernel/osrelease": "6.1.0-test\n",
            f"{cpu}/online": "0-3,6\n",
            f"{cpu}/smt/active": "1\n",
            f"{cpu}/cpu0/cpufreq/scaling_governor": "powersave\n",
            f"{cpu}/cpu1/cpufreq/scaling_governor": "performance\n",
            f"{cpu}/intel_pstate/no_turbo": "0\n",
            "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
        },
    )
    assert machine.cpu == "Fast CPU @ 3 GHz"
    assert machine.virtual is False
    assert machine.seccomp == "filter"
    assert machine.load == 1.5
    assert machine.steal == pytest.approx(0.2)
    assert machine.memory == 1 << 20
    assert machine.os_kernel == "6.1.0-test"
    assert machine.cpus_online == 5
    assert machine.smt is True
    assert machine.turbo is True
    assert machine.governor == "performance, powersave"
    assert machine.clock_source == "hpet"


def test_turbo_by_the_other_driver(tmp_path: Path) -> None:
    assert machine_of(tmp_path, {"sys/devices/system/cpu/cpufreq/boost": "0\n"}).turbo is False


@pytest.mark.parametrize(
    ("cpuinfo", "name"),
    [
        ("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "Arm Neoverse N1"),
        (
            "CPU implementer : 0x41\nCPU part : 0xd08\nModel : Raspberry Pi 4\n",
            "Arm Cortex-A72 (Raspberry Pi 4)",
        ),
        ("CPU implementer : 0x61\nCPU part : 0x022\n", "Apple, part 0x022"),
        ("CPU implementer : 0x99\nCPU part : 0x001\n", "implementer 0x99, part 0x001"),
        ("processor : 0\nisa : rv64imafdc\nuarch : sifive,u74-mc\n", "sifive,u74-mc"),
    ],
)
def test_cpus_without_a_model_name(tmp_path: Path, cpuinfo: str, name: str) -> None:
    machine = machine_of(tmp_path, {"proc/cpuinfo": cpuinfo})
    assert machine.cpu == name
    assert machine.virtual is None


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"proc/cpuinfo": "flags : fpu hypervisor\n"}, None),
        ({"sys/class/dmi/id/sys_vendor": "QEMU\n"}, "QEMU"),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "Amazon EC2"),
        ({"sys/hypervisor/type": "xen\n"}, "Xen"),
        ({"proc/device-tree/hypervisor/compatible": "linux,kvm\0"}, "KVM"),
        ({"proc/device-tree/compatible": "linux,dummy-virt\0"}, "QEMU"),
    ],
)
def test_signs_of_a_hypervisor(tmp_path: Path, files: dict[str, str], name: str | None) -> None:
    machine = machine_of(tmp_path, files)
    assert machine.virtual is True
    assert machine.hypervisor == name


def test_a_rented_bare_machine_is_not_virtual(tmp_path: Path) -> None:
    dmi = "sys/class/dmi/id"
    files = {f"{dmi}/sys_vendor": "Amazon EC2\n", f"{dmi}/product_name": "c5.metal\n"}
    files["proc/cpuinfo"] = "flags : fpu\n"
    assert machine_of(tmp_path, files).virtual is False


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({".dockerenv": ""}, "Docker"),
        ({"run/.containerenv": ""}, "Podman"),
        ({"proc/self/cgroup": "0::/kubepods/besteffort/pod1\n"}, "Kubernetes"),
        ({"proc/self/cgroup": "1:cpu:/lxc/box\n"}, "LXC"),
        ({"proc/self/cgroup": "0::/user.slice\n"}, None),
    ],
)
def test_signs_of_a_container(tmp_path: Path, files: dict[str, str], name: str | None) -> None:
    assert machine_of(tmp_path, files).container == name


@pytest.mark.parametrize(
    ("release", "version"),
    [("4.4.0-19041-Microsoft", 1), ("5.15.90.1-microsoft-standard-WSL2", 2), ("6.1.0", None)],
)
def test_wsl(tmp_path: Path, release: str, version: int | None) -> None:
    machine = machine_of(tmp_path, {"proc/sys/kernel/osrelease": release})
    assert machine.wsl == version
    assert any("WSL 1" in sentence for sentence in machine.cannot_show()) == (version == 1)


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        (
            {  # the tightest of all groups around the process
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/cpu.max": "150000 100000\n",
                "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
            },
            1.5,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/box\n3:memory:/\n",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
            },
            2.0,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            None,
        ),
    ],
)
def test_cpu_quota(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    machine_of(tmp_path, files)
    assert description.cpu_quota(tmp_path / "proc", tmp_path / "sys") == quota


@pytest.mark.parametrize(
    ("files", "seconds"),
    [
        ({"proc/self/cgroup": "0::/\n"}, 0.0),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.stat": "throttled_usec\n"}, 0.0),
        (
            {  # of the group and of those around it
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/cpu.stat": "nr_throttled 3\nthrottled_usec 1500000\n",
                "sys/fs/cgroup/a/b/cpu.stat": "usage_usec 9\nthrottled_usec 500000\n",
            },
            2.0,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/box\n",
                "sys/fs/cgroup/cpu,cpuacct/box/cpu.stat": "throttled_time 250000000\n",
            },
            0.25,
        ),
    ],
)
def test_the_time_that_a_quota_stopped_programs(
    tmp_path: Path, files: dict[str, str], seconds: float
) -> None:
    machine_of(tmp_path, files)
    assert description.throttled_s(tmp_path / "proc", tmp_path / "sys") == seconds


def test_a_run_states_what_a_quota_took_of_it_alone() -> None:
    for before, after, stated in ((1.0, 3.5, "2.50"), (1.0, 1.0, None), (2.0, 1.0, None)):
        readings = (surroundings.CpuTimes(0, 0, 0, 0, throttled) for throttled in (before, after))
        assert surroundings.load_conditions(*readings).get("cpu.throttled_s") == stated


LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max processes             {tasks:<20} 96365                processes
Max address space         {memory:<20} unlimited            bytes
"""


@pytest.mark.parametrize(
    ("files", "memory", "tasks"),
    [
        ({}, None, None),
        ({"proc/self/limits": LIMITS.format(tasks="unlimited", memory="unlimited")}, None, None),
        ({"proc/self/limits": LIMITS.format(tasks=500, memory=2**30)}, 2**30, 500),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/memory.max": f"{2**28}\n",
                "sys/fs/cgroup/a/b/memory.max": "max\n",
                "sys/fs/cgroup/a/b/pids.max": "100\n",
                "proc/self/limits": LIMITS.format(tasks=500, memory=2**30),
            },
            2**28,
            100,
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/box\n3:pids:/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "sys/fs/cgroup/memory/box/memory.limit_in_bytes": f"{2**29}\n",
                "sys/fs/cgroup/pids/pids.max": "max\n",
            },
            2**29,
            None,
        ),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "-5 ²\n"}, None, None),
    ],
)
def test_limits_of_memory_and_of_processes(
    tmp_path: Path, files: dict[str, str], memory: int | None, tasks: int | None
) -> None:
    machine = machine_of(tmp_path, files)
    assert (machine.memory_limit, machine.task_limit) == (memory, tasks)


def test_cpu_lists() -> None:
    for text, cpus in (
        ("0", (0,)),
        ("0-2,5\n", (0, 1, 2, 5)),
        ("", None),
        ("3-1", None),
        ("0-99999999", None),
        (",".join(["0-8000"] * 2000), None),  # anybody may have written it: 16 million numbers
        ("a-b", None),
        ("²", None),
    ):
        assert pseudo_files.cpu_list(text) == cpus


def test_a_plain_machine_can_show_everything() -> None:
    assert PLAIN.cannot_show() == ()


def test_two_tasks_can_have_a_cpu_each() -> None:
    for change, can in (
        ({}, True),
        ({"pinning": True}, True),
        ({"pinning": False}, False),
        ({"cpus_allowed": (1,)}, False),
        ({"cpus_allowed": None}, False),
    ):
        assert dataclasses.replace(PLAIN, **change).two_cpus == can


def test_what_cannot_be_shown_is_said_in_one_sentence() -> None:
    for change, words in (
        ({"cpus_allowed": None}, "Nothing can be pinned"),
        ({"pinning": False}, "Nothing can be pinned"),
        ({"pinning": False, "cpus_allowed": (2,)}, "one CPU only"),
        ({"pinning": False, "cpus_allowed": None, "cpus_online": 1}, "one CPU only"),
        ({"cpus_allowed": (2,)}, "wake-ups across two CPUs cannot be measured"),
        ({"virtual": True}, "virtual machine"),
        ({"virtual": None}, "hypervisor"),
        ({"governor": None}, "governor cannot be read here"),
        ({"cpu_quota": 0.5}, "to that of 0.5 CPUs"),
        ({"counter_step_ns": 41.7}, "steps of 41.7 ns"),
        ({"seccomp": "filter"}, "seccomp filter"),
    ):
        machine = dataclasses.replace(PLAIN, **change)
        (sentence,) = machine.cannot_show()
        assert words in sentence
        assert sentence.endswith("."), change
        assert sentence in machine.card(), change


def test_a_virtual_machine_does_not_know_that_smt_is_off() -> None:
    for virtual, smt, shown in (
        (True, False, "off, as far as"),
        (False, False, "off"),
        (True, True, "on"),
    ):
        machine = dataclasses.replace(PLAIN, virtual=virtual, smt=smt)
        said = dict(description.rows(machine))["SMT"]
        assert said.startswith(shown) and (said in ("off", "on")) == (smt or not virtual)


def test_the_card_in_html_is_escaped_and_has_row_headers() -> None:
    page = dataclasses.replace(PLAIN, cpu="<script>alert(1)</script> & Co")._repr_html_()
    tags: list[tuple[str, str | None]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attributes).get("scope")))

    Reader().feed(page)
    assert "script" not in {tag for tag, _ in tags}
    assert ("caption", None) in tags
    assert [scope for tag, scope in tags if tag == "th"] == ["row"] * sum(
        tag == "tr" for tag, _ in tags
    )


def test_every_condition_that_is_read_is_written_by_the_kit() -> None:
    """Tests of what a condition says put it into a recording by hand; a run must do so too."""
    literal = re.compile(r'"((?:[a-z_0-9]+\.)+[a-z_0-9]+)"')
    reading = ("recording/run_conditions.py", "results/remarks.py", "results/run_warnings.py")
    read = {key for name in reading for key in literal.findall(_text(f"labs/{name}"))}
    read = {key for key in read if not key.endswith(".jinja")}
    assert len(read) > 20
    writing = "".join(
        path.read_text(encoding="utf-8")
        for pattern in ("kernels_c/*.[ch]", "labs/machine/*.py", "labs/run/*.py")
        for path in REPOSITORY.glob(pattern)
    )
    # C prints a key as `# key:`, or with a part of it as an argument, as in `# task.%s.`.
    printed = re.findall(r"# ([a-z_0-9%.]+):[ %\"]", writing) + literal.findall(writing)
    assert "cut_short_conditions(" in writing
    printed += run_conditions.cut_short_conditions(1.0, 10, cpu_share=0.5)
    forms = [re.escape(each).replace("%s", "[a-z_0-9]+") for each in printed]
    written = re.compile("|".join(forms))
    assert {key for key in read if not written.fullmatch(key)} == set()


def _text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")
