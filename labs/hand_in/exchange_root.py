"""The program that prints the folder of nbgrader's exchange as JSON.

It prints null if the exchange is of another kind.
"""

from __future__ import annotations

import json
import sys

from nbgrader.apps import NbGrader
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory


def main() -> int:
    """Print the folder; the exit status is 0."""
    app = NbGrader()
    app.load_config_file()
    config = app.config
    lister = ExchangeFactory(config=config).List(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
    )
    sys.stdout.write(json.dumps(getattr(lister, "root", None)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
