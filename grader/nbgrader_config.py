"""Makes nbgrader grade labs by their evidence: the settings of a course folder.

A course folder has its own `nbgrader_config.py` with these lines, which `make_course` of
:mod:`grader.with_nbgrader.course` writes:

    from grader.nbgrader_config import configure
    c = get_config()
    configure(c, __file__)

You can also use a copy of this file, or a link to it. The command line and the formgrader both read
it, so both grade in the same way.
"""

from __future__ import annotations

from grader.with_nbgrader.settings import configure

__all__ = ["configure"]

# nbgrader runs a configuration file with `get_config` among its names; an import does not.
_get_config = globals().get("get_config")
if _get_config is not None:
    configure(_get_config(), __file__)
