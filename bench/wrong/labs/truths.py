"""The table of causes and their true namings, for each lab."""

from __future__ import annotations

from bench.wrong.labs import truths_01_to_04, truths_05_to_08
from bench.wrong.labs.lab_11 import truths as truths_11
from bench.wrong.labs.of_memory import truths_09, truths_10

TRUTHS = (
    truths_01_to_04.TRUTHS
    | truths_05_to_08.TRUTHS
    | truths_09.TRUTHS
    | truths_10.TRUTHS
    | truths_11.TRUTHS
)
