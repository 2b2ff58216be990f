"""How often do 95 % intervals hold the truth? Simulated runs of machines whose answer is known."""

from __future__ import annotations

from bench.table import show
from tests import simulate


def run(quick: bool) -> None:
    """Print the coverage of intercept and slope for each disturbance and step of the counter."""
    runs = 100 if quick else 2000
    rows = []
    for case, machine in simulate.DISTURBANCES.items():
        for step in simulate.STEPS:
            overhead, cost, straight = simulate.coverage(
                simulate.with_step(machine, step), runs, first_seed=10_000
            )
            shares = (f"{100 * share:.1f}" for share in (overhead, cost, straight))
            rows.append((case, str(step), *shares))
    show(("machine", "step", "intercept %", "slope %", "called a line %"), rows)
    print(f"\n  {runs} runs each")
