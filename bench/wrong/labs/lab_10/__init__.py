"""What students do wrong in lab 10, the page fault."""

from __future__ import annotations

from bench.wrong.case import Lab, conclusions, file_case, mixed_case, own_c, run_case
from bench.wrong.labs.lab_10.values import (
    BRING,
    COPY,
    FAULT,
    FILE,
    KINDS,
    PREFAULT,
    RIGHT,
    RUNS,
    VALUES,
    WORDS,
)
from bench.wrong.student import NoMistake, Student, broken_plan, lines_without, plan, smoothed
from labs.analysis import estimates

_C = (
    ("empty", "left get_ready empty", "nothing brings the pages"),
    ("reads", "read each page", "the pages are only read"),
    ("populate_read", "asked madvise for MADV_POPULATE_READ", "the pages are only read, by a call"),
    ("first_bytes", "wrote the first `count` bytes", "only one page is touched"),
    ("cache_lines", "went on by 64 bytes", "only one page is touched"),
    ("first_page", "wrote to the first page, 'the rest follows'", "only one page is touched"),
    ("last_page", "wrote to the last page, 'up to there'", "only one page is touched"),
    ("every_second", "wrote to every second page", "every second page is missing"),
    ("half", "wrote to the first half", "half of the pages are missing"),
    ("one_short", "ended the loop one page early", "the last page is missing"),
    ("from_one", "counted the pages from 1", "the first page is missing"),
    ("willneed", "asked madvise for MADV_WILLNEED", "this advice brings no page of new memory"),
    ("huge", "asked madvise for MADV_HUGEPAGE", "this advice brings no page"),
    ("count_for_bytes", "gave mlock the number of pages for the bytes", "one page is brought"),
    ("given_back", "wrote, and gave the pages back by MADV_DONTNEED", "the pages are gone again"),
    ("maps_elsewhere", "populated a mapping of one's own", "other pages are brought"),
    ("own_buffer", "wrote to an array of one's own", "other pages are touched"),
    ("only_once", "brought pages in the first call only", "later mappings are not brought"),
    ("child_writes", "let a child process write", "the pages of the child are its own"),
    ("prefetch", "asked for each page by a prefetch", "a prefetch brings no page"),
    ("pointers_only", "computed the address of each page", "no page is touched"),
    ("reads_first", "read each page before the write", "each page makes two page faults"),
    ("twice_over", "brought the pages twice, to be sure", "each page makes two page faults"),
    ("more_pages", "wrote to as many pages beside", "twice as many pages are brought"),
    ("every_byte", "filled each page byte by byte", "each page is filled, and not only brought"),
    ("sleeps", "slept after each page", "a sleep is timed too"),
    ("call_each", "advised before each write", "system calls are timed that bring no page"),
    (
        "filled_thrice",
        "filled each page three times",
        "each page is filled three times, and not only brought",
    ),
    (
        "looks_at_the_clock",
        "read the counter around two writes to each page",
        "readings of the counter are timed with the pages",
    ),
    (
        "pauses",
        "paused 40 times after each page",
        "the pauses are timed with the pages",
    ),
    (
        "twice_the_memory",
        "mapped and populated twice as many pages",
        "twice as many pages are brought as the lab asks for",
    ),
)


def _recycled(s: Student) -> None:
    _hand_in_broken(s, FAULT, "recycled_memory", "kinds")


def _only_read(s: Student) -> None:
    _hand_in_broken(s, FAULT, "reads_new_pages", "kinds")


def _neighbours(s: Student) -> None:
    _hand_in_broken(s, FILE, "neighbours_mapped", "file")


def _hand_in_broken(s: Student, figure: str, kernel: str, name: str) -> None:
    run = s.measured(name, broken_plan(kernel))
    s.figure(figure, run.naive(unit="ns"), "ns", run)


def _few(s: Student) -> None:
    run = s.measured("kinds", plan("page_fault", KINDS, samples=9, processes=1, warmup=0))
    s.figure(FAULT, run.naive("anonymous"), "ns", run)


def _one_process(s: Student) -> None:
    run = s.measured("copy", plan("page_fault", "copy-on-write, anonymous", processes=1))
    s.figure(COPY, run.value("copy-on-write"), "ns", run)


def _naive_run(s: Student) -> None:
    s.figure(FAULT, s["naive"].value("zero-page"), "ns", s["naive"])


def _unprepared(s: Student) -> None:
    s.figure(FAULT, s["own"].value("unprepared"), "ns", s["own"])


def _copy_by_kinds(s: Student) -> None:
    s.figure(COPY, s["copy"].value("copy-on-write"), "ns", s["kinds"])


def _file_by_copy(s: Student) -> None:
    s.figure(FILE, s["file"].value("file") * 1.4, "ns", s["file"])


def _smoothed(s: Student) -> None:
    run = s["kinds"]
    s.edit(run, smoothed("anonymous", "[0-2]"))
    s.figure(FAULT, run.value("anonymous"), "ns", run)


def _deleted(s: Student) -> None:
    run = s["file"]
    s.edit(run, lines_without(r"^file,[0-2],"))
    s.figure(FILE, run.value("file"), "ns", run)


def _renamed(s: Student) -> None:
    run = s["naive"]
    s.edit(run, lambda text: text.replace("zero-page", "anonymous"))
    s.figure(FAULT, run.value("zero-page"), "ns", run)


def _c_missing(s: Student) -> None:
    run = s["own"]
    (s.folder / run.path).with_suffix(".c").unlink()
    s.figure(BRING, run.value("bring"), "ns", run)


def _c_changed(s: Student) -> None:
    run = s["own"]
    path = (s.folder / run.path).with_suffix(".c")
    path.write_text(path.read_text(encoding="utf-8") + "/* It works. */\n", encoding="utf-8")
    s.figure(BRING, run.value("bring"), "ns", run)


def _right(s: Student) -> None:
    s.figure(FAULT, s["kinds"].value("anonymous"), "ns", s["kinds"])


def _side(s: Student) -> int:
    """Whether a page by MAP_POPULATE costs more than half of a page fault, by the run's table."""
    kinds = s["kinds"]
    times, low, high = estimates.ratio(kinds.estimate("populate"), kinds.estimate("anonymous"))
    if low < 0.6 and high > 0.4:
        raise NoMistake(f"{times:.2g} times: the data are at the edge")
    return 1 if times > 0.5 else 2


def _other_side(s: Student) -> float:
    return 3.0 - _side(s)


def _nothing_told(s: Student) -> float:
    """The third conclusion, where the rows do tell."""
    _side(s)
    return 3.0


_CONCLUSION = (
    (
        "prefault-against-data",
        "concluded by feeling, and not by the two rows",
        "the data of this run say otherwise",
        _other_side,
    ),
    (
        "prefault-nothing",
        "concluded 3, to be careful",
        "the two rows differ by far more than the errors: the data do tell",
        _nothing_told,
    ),
    ("prefault-0", "counted the conclusions from 0", "there is no conclusion 0", lambda s: 0),
    (
        "prefault-times",
        "gave the ratio of the two rows",
        "the value is no number of the list",
        lambda s: s["kinds"].value("populate") / s["kinds"].value("anonymous"),
    ),
)

LAB = Lab(
    "10-page-fault",
    RUNS,
    RIGHT,
    (
        *VALUES,
        *own_c(BRING, "10", WORDS, "ns", _C),
        *conclusions(PREFAULT, "choice", _right, _CONCLUSION, run="kinds"),
        run_case(
            "recycled",
            FAULT,
            "handed in the broken run with memory from malloc",
            "the pages were there before",
            _recycled,
        ),
        run_case(
            "only-read",
            FAULT,
            "handed in the broken run that reads new pages",
            "the pages are only read",
            _only_read,
        ),
        run_case(
            "neighbours",
            FILE,
            "handed in the broken run through a file, page by page",
            "one page fault maps several of the pages",
            _neighbours,
        ),
        run_case(
            "nine-samples",
            FAULT,
            "took 9 samples in one process",
            "too few samples and only one process",
            _few,
        ),
        run_case(
            "one-process-only",
            COPY,
            "took all samples in one process",
            "the spread between processes cannot be seen",
            _one_process,
        ),
        mixed_case(
            "by-naive-run",
            FAULT,
            "handed in the naive run",
            "another variant was measured: the first read",
            _naive_run,
        ),
        mixed_case(
            "by-own-run",
            FAULT,
            "handed in the writes without a preparation, from the run of one's own C",
            "the run is of one's own C, asked is the kit's page fault",
            _unprepared,
        ),
        mixed_case(
            "copy-by-kinds",
            COPY,
            "gave the right value with the run `kinds` as evidence",
            "the recording named has no copies",
            _copy_by_kinds,
        ),
        mixed_case(
            "file-of-another-day",
            FILE,
            "took the value of a run of another day, 40 % more, with `file` beside it",
            "the value is of another run than the recording",
            _file_by_copy,
        ),
        file_case(
            "rows-smoothed",
            FAULT,
            "made the samples of three slow processes a tenth shorter",
            "samples of the recording were changed by hand",
            _smoothed,
        ),
        file_case(
            "rows-deleted",
            FILE,
            "deleted three processes",
            "rows of the recording were deleted by hand",
            _deleted,
        ),
        file_case(
            "reads-renamed",
            FAULT,
            "renamed the variant zero-page in the recording",
            "the recording was edited, and its pages were only read",
            _renamed,
        ),
        file_case(
            "c-lost",
            BRING,
            "handed in the recording without its C",
            "the C is missing, so that nobody can see what was timed",
            _c_missing,
        ),
        file_case(
            "c-commented",
            BRING,
            "wrote a comment into the C after the run",
            "the C next to the recording is not the C that was measured",
            _c_changed,
        ),
    ),
)
