"""Where the repository and the saved submissions of the tests are."""

from __future__ import annotations

from pathlib import Path

#: The repository that these tests belong to.
REPOSITORY = Path(__file__).resolve().parent.parent
#: Recordings and lab folders that tests and benchmarks start from.
FIXTURES = REPOSITORY / "tests" / "fixtures"
