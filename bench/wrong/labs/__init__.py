"""All labs with their wrong submissions."""

from __future__ import annotations

from bench.wrong.case import Lab
from bench.wrong.labs import lab_01, lab_02, lab_03, lab_04, lab_05, lab_06, lab_07, lab_08, lab_11
from bench.wrong.labs.of_memory import lab_09, lab_10

LABS: tuple[Lab, ...] = (
    lab_01.LAB,
    lab_02.LAB,
    lab_03.LAB,
    lab_04.LAB,
    lab_05.LAB,
    lab_06.LAB,
    lab_07.LAB,
    lab_08.LAB,
    lab_09.LAB,
    lab_10.LAB,
    lab_11.LAB,
)
