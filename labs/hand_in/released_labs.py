"""The program that prints which labs the exchange has released: a JSON list of [course, lab].

`nbgrader list` prints the same for a reader only (nbgrader 0.9.6).
"""

from __future__ import annotations

import json
import sys

from nbgrader.apps import NbGrader
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeFactory
from nbgrader.exchange.abc import ExchangeError


def main() -> int:
    """Print the list; the exit status is 1 if there is no exchange."""
    app = NbGrader()
    app.load_config_file()
    config = app.config
    try:
        listed = (
            ExchangeFactory(config=config)
            .List(
                coursedir=CourseDirectory(config=config),
                authenticator=Authenticator(config=config),
                config=config,
            )
            .start()
        )
    except ExchangeError:
        return 1
    found = sorted({(each["course_id"], each["assignment_id"]) for each in listed})
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
