"""Makes nbgrader grade labs by their evidence: the settings of a course folder.

A course folder has its own `nbgrader_config.py`, which `make_course` of
:mod:`grader.with_nbgrader.course` writes. It calls `configure`, and ends nbgrader if this package
is not there. You can also use a copy of this file, or a link to it. The command line and the
formgrader both read it, so both grade in the same way.
"""

from __future__ import annotations

try:
    from grader.with_nbgrader.settings import configure
except Exception as error:
    if "get_config" not in globals():
        raise
    # nbgrader only logs other errors here, and would run the code of the students.
    raise SystemExit(f"{__file__}: Ticklab's grader is not there: {error!r}.") from error

__all__ = ["configure"]

# nbgrader runs a configuration file with `get_config` among its names; an import does not.
_get_config = globals().get("get_config")
if _get_config is not None:
    configure(_get_config(), __file__)
