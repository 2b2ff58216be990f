"""How much of anything is read or run: the one place of all bounds on what others may have written.

A recording, a figures file, a notebook and a C source may come from anybody. Every reader of one,
here and in `grader`, takes its bounds from this page, so that what one of them reads another does
not refuse.
"""

from __future__ import annotations

#: Of one run.
MOST_SAMPLES, MOST_PROCESSES, MOST_WARMUP = 100_000, 100, 10_000

#: Of one recording; every process may bring conditions of its own.
MOST_RECORDING_BYTES, MOST_RECORDING_ROWS = 8 * 1024 * 1024, 250_000
MOST_VARIANTS, MOST_RECORDED_PROCESSES = 64, 1_000
MOST_CONDITIONS, MOST_LINE_BYTES = 4_000, 16_384

#: Of the JSON files of a lab folder, and of a C source beside a recording.
MOST_JSON_BYTES, MOST_FIGURES = 256 * 1024, 200
MOST_SOURCE_BYTES = 256 * 1024

#: Of a notebook that was handed in.
MOST_NOTEBOOK_BYTES, MOST_CELLS = 16_000_000, 5_000

#: Of a lab folder that was handed in: nothing in it that is read is larger than a recording, apart
#: from the notebook.
MOST_FILE_BYTES, MOST_FOLDER_BYTES = MOST_RECORDING_BYTES, 64_000_000
MOST_FILES, MOST_DEPTH = 500, 6
