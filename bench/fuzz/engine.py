"""Try inputs for one target: guided by Atheris, or by Hypothesis alone.

As a program: `python -m bench.fuzz.engine TARGET COUNT SEED ENGINE`. Its last line is the outcome
as JSON. It is a process of its own, because Atheris ends the process, and its memory is then what
these inputs took. Nothing here may import `labs` or `grader` before Atheris watches their imports.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

import hypothesis

from bench.fuzz.limits import MOST_MEGABYTES, MOST_SECONDS, megabytes
from bench.fuzz.tokens import MOST_BYTES, TOKENS, meaning_changed
from support.paths import REPOSITORY

KEPT = REPOSITORY / "build" / "fuzz"
ENGINES = ("atheris", "hypothesis")
#: Longer than a second of computing on a machine that does nine other things.
HANGS_S = 60


def installed() -> str:
    """The better engine of those that are here."""
    return "atheris" if find_spec("atheris") else "hypothesis"


@dataclass
class Outcome:
    """What became of some inputs. `suspects` are files of inputs to measure again by themselves."""

    inputs: int = 0
    read: int = 0
    slowest_s: float = 0.0
    megabytes: float = 0.0
    wrong: list[str] = field(default_factory=list)
    suspects: list[str] = field(default_factory=list)

    def examine(self, target: str, check: Callable[[bytes], bool], content: bytes) -> bool:
        """Whether the check of `content` finds nothing wrong; notes what it costs."""
        before, begin = megabytes(), time.process_time()
        good = True
        try:
            self.read += check(content)
        except Exception as error:  # whatever it is: that is what we look for
            good = False
            self._note(target, error, content)
        seconds = time.process_time() - begin
        self.inputs += 1
        self.slowest_s = max(self.slowest_s, seconds)
        self.megabytes = megabytes()
        # The tracer of an engine slows this process and takes memory: only a suspicion.
        if seconds > MOST_SECONDS / 2 or self.megabytes > max(MOST_MEGABYTES, before + 10):
            self.suspects.append(keep(target, content))
        return good

    def _note(self, target: str, error: Exception, content: bytes) -> None:
        """Keep one input of each kind of fault."""
        from bench.fuzz.checks import Wrong, place_of

        what = f"{error!s:.300}" if isinstance(error, Wrong) else f"{error!r:.300}"
        kind = f"{target}: {place_of(error)}: {what}"
        if len(self.wrong) < 50 and not any(kind[:60] == each[:60] for each in self.wrong):
            self.wrong.append(f"{kind} [{keep(target, content)}]")


def keep(target: str, content: bytes) -> str:
    """Write an input to build/fuzz/ and return the name of its file."""
    name = f"{target}-{hashlib.sha256(content).hexdigest()[:12]}"
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / name).write_bytes(content)
    return name


def by_hypothesis(name: str, count: int, seed: int) -> Outcome:
    """`count` inputs, all of them decided by `seed`."""
    from bench.fuzz.targets import TARGETS

    outcome = Outcome()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(TARGETS[name].inputs())
    def examine(content: bytes) -> None:
        outcome.examine(name, TARGETS[name].check, content)

    examine()
    return outcome


def by_atheris(name: str, count: int, seed: int) -> None:
    """`count` inputs, guided to code that none has reached. Prints the outcome and exits."""
    import atheris

    with atheris.instrument_imports(include=["labs", "grader"]):
        target = importlib.import_module("bench.fuzz.targets").TARGETS[name]
    outcome = Outcome()

    def examine(content: bytes) -> None:
        outcome.examine(name, target.check, content)
        if outcome.inputs >= count:
            _print(outcome)
            os._exit(0)

    def changed(content: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.5:
            return bytes(atheris.Mutate(content, most))
        return meaning_changed(
            content, chance, lambda old: bytes(atheris.Mutate(old, len(old) + 64))
        )[:most]

    folder = Path(tempfile.mkdtemp(prefix="ticklab-fuzz-"))
    for number, content in enumerate(target.seeds()):
        (folder / f"{number}").write_bytes(content[:MOST_BYTES])
    tokens = folder.with_suffix(".tokens")
    tokens.write_text("".join(f'"{_escaped(each)}"\n' for each in TOKENS if 0 < len(each) < 64))
    options = [f"-runs={10 * count}", f"-seed={seed + 1}", f"-max_len={MOST_BYTES}"]
    options += [f"-dict={tokens}", f"-timeout={HANGS_S}", "-rss_limit_mb=0"]
    options += [f"-artifact_prefix={KEPT}/{name}-"]
    KEPT.mkdir(parents=True, exist_ok=True)
    atheris.Setup(["fuzz", *options, str(folder)], examine, custom_mutator=changed)
    atheris.Fuzz()


def _escaped(token: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token)


def _print(outcome: Outcome) -> None:
    print(json.dumps(asdict(outcome)), flush=True)


if __name__ == "__main__":
    _target, _count, _seed, _engine = sys.argv[1:]
    if _engine == "atheris":
        by_atheris(_target, int(_count), int(_seed))
    else:
        _print(by_hypothesis(_target, int(_count), int(_seed)))
