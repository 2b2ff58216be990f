"""The limits on everything that the kit reads or runs and that others may have written.

Anybody may write a recording, a figures file, a notebook or a C source. Every reader, here and in
`grader`, takes its limits from this module, so that all of them accept the same files.
"""

from __future__ import annotations

#: Limits of one run.
MOST_SAMPLES, MOST_PROCESSES, MOST_WARMUP = 100_000, 100, 10_000

#: Limits of one recording. Its rows hold 100,000 samples, as many of their baseline, and warm-up.
#: Every process may add its own conditions.
MOST_RECORDING_BYTES, MOST_RECORDING_ROWS = 8 * 1024 * 1024, 250_000
MOST_VARIANTS, MOST_RECORDED_PROCESSES = 64, 1_000
MOST_CONDITIONS, MOST_LINE_BYTES = 4_000, 16_384

#: Limits of the JSON files of a lab folder, and of a C source next to a recording.
MOST_JSON_BYTES, MOST_FIGURES = 256 * 1024, 200
MOST_JSON_DEPTH, MOST_JSON_DIGITS = 20, 300
MOST_SOURCE_BYTES = 256 * 1024

#: Limits of a submitted notebook.
MOST_NOTEBOOK_BYTES, MOST_CELLS = 16_000_000, 5_000

#: Limits of one answer, in characters (a long report has 10,000); of a formula in it, and of the
#: number of formulas; and of the pictures that were pasted into it.
MOST_ANSWER, MOST_FORMULA, MOST_FORMULAS = 20_000, 200, 40
MOST_PICTURES, MOST_PICTURE_BYTES, MOST_PICTURE_PIXELS = 8, 6_000_000, 25_000_000

#: Limits of a submitted lab folder. Apart from the notebook, no file that we read in it is larger
#: than a recording.
MOST_FILE_BYTES, MOST_FOLDER_BYTES = MOST_RECORDING_BYTES, 64_000_000
MOST_FILES, MOST_DEPTH = 500, 6
