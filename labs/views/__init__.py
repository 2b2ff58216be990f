"""Views: runs laid beside each other, each as a picture with a description and a table.

`arguments` a procedure call's cost against its number of arguments, `placement` a switch's cost by
where the two tasks ran, `footprint` by the memory that they need, `memory` the creation of a task
against its parent's memory, `cold_to_warm` the first time in a process and the later ones,
`among_published` one's own figure among the published ones.
"""

from __future__ import annotations

from labs.views.among_published import among_published
from labs.views.arguments import arguments
from labs.views.cold_to_warm import cold_to_warm
from labs.views.footprint import footprint
from labs.views.memory import memory
from labs.views.placement import placement

__all__ = ["among_published", "arguments", "cold_to_warm", "footprint", "memory", "placement"]
