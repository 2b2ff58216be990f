"""The limits on everything that the kit reads or runs and that others may have written.

Anybody may write a recording, a figures file, a notebook or a C source. Every reader, here and in
`grader`, takes its limits from here, so that all of them accept the same files.
"""

from __future__ import annotations

#: Limits of one run.
MOST_SAMPLES, MOST_PROCESSES, MOST_WARMUP = 100_000, 100, 10_000
MOST_TIME_LIMIT_S = 3600.0

#: Limits of one recording. Its rows hold 100,000 samples, as many of their baseline, and warm-up.
#: Every process may add its own conditions.
MOST_RECORDING_BYTES, MOST_RECORDING_ROWS = 8 * 1024 * 1024, 250_000
MOST_VARIANTS, MOST_RECORDED_PROCESSES = 64, 1_000
#: A C kernel takes 32 batch sizes. The processes of a run come one after the other, so their number
#: changes from row to row less often than there are processes.
MOST_BATCH_SIZES, MOST_PROCESS_CHANGES = 64, 2_000
MOST_CONDITIONS, MOST_LINE_BYTES, MOST_HEADER_BYTES = 4_000, 16_384, 2 * 1024 * 1024
#: Limits of what one process states, and of one condition. The longest honest value has 200
#: characters, and the longest key has 41.
MOST_PROCESS_CONDITIONS, MOST_KEY, MOST_VALUE = 2_000, 80, 2_000
#: Linux has at most 8192 CPUs. All different CPU lists of a recording together name at most this
#: many: an honest recording has one list for the machine, and one or two CPUs for each task.
MOST_CPUS, MOST_LISTED_CPUS = 8_192, 100_000

#: Limits of the JSON files of a lab folder, and of a C source next to a recording (the longest C
#: kernel has 16 kB).
MOST_JSON_BYTES, MOST_FIGURES = 256 * 1024, 200
#: The most answers to one question that are counted.
MOST_TRIES = 1_000
#: How many versions of one prediction or of one written answer are kept, and the characters of one
#: reason and of one written answer.
MOST_VERSIONS, MOST_REASON, MOST_OWN_WORDS = 50, 2_000, 4_000
MOST_JSON_DEPTH, MOST_JSON_DIGITS = 20, 300
MOST_SOURCE_BYTES = 128 * 1024

#: Limits of the file with the id of a course, and how far above a recording it is looked for: in
#: the folder `recordings`, in the lab's folder, and in the folder of all labs.
MOST_COURSE_BYTES, MOST_LEVELS_TO_COURSE = 4 * 1024, 3
#: The first bytes of a recording that hold its conditions, without those of processes. The longest
#: such head of an honest run has 5 kB.
MOST_HEAD_BYTES = 64 * 1024

#: Limit of the secret that `nbgrader submit` adds to a submission.
MOST_SECRET_BYTES = 4096

#: Limits of a submitted notebook.
MOST_NOTEBOOK_BYTES, MOST_CELLS = 16_000_000, 5_000

#: Limits of one answer, in characters (a long report has 10,000) and lines; of a formula in it, and
#: of the number of formulas; and of the pictures that were pasted into it.
MOST_ANSWER, MOST_ANSWER_LINES = 20_000, 2_000
MOST_FORMULA, MOST_FORMULAS = 200, 40
MOST_PICTURES, MOST_PICTURE_BYTES, MOST_PICTURE_PIXELS = 8, 6_000_000, 25_000_000

#: Limits of a submitted lab folder. Apart from the notebook, no file that we read in it is larger
#: than a recording. The files that `figures.json` names are copied first and have their own limit,
#: which 20 of the largest recordings reach; the other limits are those of all other files.
MOST_FILE_BYTES, MOST_FOLDER_BYTES = MOST_RECORDING_BYTES, 64_000_000
MOST_FILES, MOST_DEPTH, MOST_ENTRIES = 500, 6, 20_000
MOST_EVIDENCE_BYTES = 20 * MOST_RECORDING_BYTES

#: Limits of an archive that a student hands in: its bytes, its files, the bytes of the list of its
#: files, how often its size it may unpack to (a small archive may unpack to more), and how many
#: archives may lie in each other. One of `labs hand-in` has 20 files and unpacks to 10 times.
MOST_ARCHIVE_BYTES, MOST_ARCHIVE_FILES, MOST_ARCHIVE_LIST = 64_000_000, 2_000, 500_000
MOST_UNPACKED_TIMES, ANY_UNPACKED_TIMES_BELOW, MOST_NESTED_ARCHIVES = 200, 16_000_000, 2
MOST_UNPACKED_BYTES = MOST_FOLDER_BYTES + MOST_EVIDENCE_BYTES
#: Limits of one name in an archive, and of a path, in bytes.
MOST_NAME_BYTES, MOST_PATH_BYTES = 200, 800
#: Limits of what a learning platform hands out for a class: its files, and the list of them.
MOST_CLASS_FILES, MOST_CLASS_LIST = 1_000_000, 200_000_000
#: Limits of a list of students.
MOST_ROSTER_BYTES, MOST_STUDENTS = 16_000_000, 100_000

#: Limits of what the check of one submission gives: characters of one verdict as text or HTML, and
#: of its plot, characters of log, and bytes in all.
MOST_SHOWN, MOST_LOG = 200_000, 20_000
MOST_JUDGEMENT_BYTES = 32_000_000

#: Limits of a class that works together (`grader live`): its students, the bytes that one of them
#: sends at once, the predictions or figures in them, and the findings of one figure.
MOST_IN_CLASS, MOST_SHARED_BYTES, MOST_SHARED, MOST_SHARED_FINDINGS = 2_000, 16 * 1024, 40, 20
