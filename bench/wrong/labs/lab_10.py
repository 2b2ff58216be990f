"""What students do wrong in lab 10, the page fault."""

from __future__ import annotations

from bench.wrong.case import Kind, Lab
from bench.wrong.student import (
    NoMistake,
    Student,
    broken_plan,
    lines_without,
    own_plan,
    plan,
    smoothed,
)
from labs.analysis import confidence

FAULT, COPY, FILE = "page-fault-anonymous", "page-fault-copy", "page-fault-file"

BRING, PREFAULT = "page-fault-bring", "page-fault-prefault"

WORDS = "own_page_fault --variant bring,own,unprepared --samples 600"

KINDS = "anonymous, zero-page, populate, prefaulted"

RUNS = {
    "naive": lambda: plan("page_fault", "zero-page"),
    "kinds": lambda: plan("page_fault", KINDS),
    "copy": lambda: plan("page_fault", "copy-on-write, anonymous"),
    "file": lambda: plan("page_fault", "file"),
    "own": lambda: own_plan(WORDS, "10/right.c"),
}

#: The run by which each figure is handed in.
RIGHT = {FAULT: "kinds", COPY: "copy", FILE: "file", BRING: "own", PREFAULT: "kinds"}

LAB = Lab("10-page-fault", RUNS, RIGHT)

#: The bytes of a page, and the pages that Linux maps with one page fault of a file.
PAGE, NEIGHBOURS = 4096, 16


def ns(s: Student, run: str, variant: str) -> float:
    return s[run].value(variant)


@LAB.value(FAULT, "the value is that of the first read")
def first_read(s: Student) -> float:
    """Took the row zero-page."""
    return ns(s, "kinds", "zero-page")


@LAB.value(FAULT, "the value is that of a page by MAP_POPULATE")
def by_populate(s: Student) -> float:
    """Took the row populate."""
    return ns(s, "kinds", "populate")


@LAB.value(FAULT, "the value is that of a write without a page fault")
def write_after_populate(s: Student) -> float:
    """Took the row prefaulted."""
    return ns(s, "kinds", "prefaulted")


@LAB.value(FAULT, "the value is in ticks, not in ns")
def ticks_for_ns(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["kinds"].value("anonymous", "ticks")


@LAB.value(FAULT, "the value is in core cycles, not in ns")
def cycles_for_ns(s: Student) -> float:
    """Took the value in core cycles and wrote ns."""
    return s["kinds"].value("anonymous", "cycles")


@LAB.value(FAULT, "the value is in us, not in ns: a factor of 1000")
def us_for_ns(s: Student) -> float:
    """Took the value in us and wrote ns."""
    return s["kinds"].value("anonymous", "us")


@LAB.value(FAULT, "the value is a whole sample of many page faults")
def whole_sample(s: Student) -> float:
    """Took the mean of the column ticks, in ns."""
    return float(s["kinds"].column("anonymous").mean())


@LAB.value(FAULT, "the cost of a page was divided by its bytes")
def for_a_byte(s: Student) -> float:
    """Divided by the bytes of a page."""
    return ns(s, "kinds", "anonymous") / PAGE


@LAB.value(FAULT, "the first read was subtracted, asked is one page fault")
def less_first_read(s: Student) -> float:
    """Subtracted the first read."""
    return ns(s, "kinds", "anonymous") - ns(s, "kinds", "zero-page")


@LAB.value(FAULT, "the value is the sum of two page faults")
def read_and_write(s: Student) -> float:
    """Added the first read, since a page is read and written."""
    return ns(s, "kinds", "anonymous") + ns(s, "kinds", "zero-page")


@LAB.value(FAULT, "the value is not of this run")
def predicted(s: Student) -> float:
    """Handed in the prediction."""
    return 1234.0


@LAB.value(COPY, "the other page fault was subtracted, asked is the whole one")
def only_the_copying(s: Student) -> float:
    """Subtracted the page fault without a copy."""
    return ns(s, "copy", "copy-on-write") - ns(s, "copy", "anonymous")


@LAB.value(COPY, "the value is that of new memory")
def new_for_copied(s: Student) -> float:
    """Took the second row."""
    return ns(s, "copy", "anonymous")


@LAB.value(COPY, "the value is a ratio of two costs")
def times_for_ns(s: Student) -> float:
    """Handed in how many times dearer the copy is."""
    return ns(s, "copy", "copy-on-write") / ns(s, "copy", "anonymous")


@LAB.value(COPY, "the value is in ticks, not in ns")
def copy_in_ticks(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["copy"].value("copy-on-write", "ticks")


@LAB.value(FILE, "the cost of a page fault was divided by the pages that it maps")
def for_each_neighbour(s: Student) -> float:
    """Divided by the 16 pages that are mapped."""
    return ns(s, "file", "file") / NEIGHBOURS


@LAB.value(FILE, "the value is that of a read without a page fault")
def reads_without_fault(s: Student) -> float:
    """Took the slope of the baseline."""
    return s["file"].baseline("file")


@LAB.value(FILE, "the value is in us, not in ns: a factor of 1000")
def file_in_us(s: Student) -> float:
    """Took the value in us and wrote ns."""
    return s["file"].value("file", "us")


@LAB.value(FILE, "the value is what the timer costs, asked is the slope")
def intercept(s: Student) -> float:
    """Took the intercept of the line."""
    return s["file"].intercept("file")


@LAB.value(BRING, "the value is that of the writes after the preparation")
def writes_after(s: Student) -> float:
    """Took the row own."""
    return ns(s, "own", "own")


@LAB.value(BRING, "the value is that of the writes without a preparation")
def writes_without(s: Student) -> float:
    """Took the row unprepared."""
    return ns(s, "own", "unprepared")


@LAB.value(BRING, "the value is in ticks, not in ns")
def bring_in_ticks(s: Student) -> float:
    """Took the value in ticks and wrote ns."""
    return s["own"].value("bring", "ticks")


@LAB.value(BRING, "the value is a whole sample of many pages")
def all_pages(s: Student) -> float:
    """Took the mean of the column ticks, in ns."""
    return float(s["own"].column("bring").mean())


@LAB.value(BRING, "the value is what is saved later, not what is paid in advance")
def what_it_saves(s: Student) -> float:
    """Subtracted what the writes cost afterwards from those without a preparation."""
    return ns(s, "own", "unprepared") - ns(s, "own", "own")


LAB.own_c(
    BRING,
    WORDS,
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
    ("pauses", "paused 40 times after each page", "the pauses are timed with the pages"),
    (
        "twice_the_memory",
        "mapped and populated twice as many pages",
        "twice as many pages are brought as the lab asks for",
    ),
)


@LAB.case(Kind.RUN, FAULT, "the pages were there before")
def recycled(s: Student) -> None:
    """Handed in the broken run with memory from malloc."""
    _hand_in_broken(s, FAULT, "recycled_memory", "kinds")


@LAB.case(Kind.RUN, FAULT, "the pages are only read")
def only_read(s: Student) -> None:
    """Handed in the broken run that reads new pages."""
    _hand_in_broken(s, FAULT, "reads_new_pages", "kinds")


@LAB.case(Kind.RUN, FILE, "one page fault maps several of the pages")
def neighbours(s: Student) -> None:
    """Handed in the broken run through a file, page by page."""
    _hand_in_broken(s, FILE, "neighbours_mapped", "file")


def _hand_in_broken(s: Student, figure: str, kernel: str, name: str) -> None:
    run = s.measured(name, broken_plan(kernel))
    s.figure(figure, run.naive(unit="ns"), "ns", run)


@LAB.case(Kind.RUN, FAULT, "too few samples and only one process")
def nine_samples(s: Student) -> None:
    """Took 9 samples in one process."""
    run = s.measured("kinds", plan("page_fault", KINDS, samples=9, processes=1, warmup=0))
    s.figure(FAULT, run.naive("anonymous"), "ns", run)


@LAB.case(Kind.RUN, COPY, "the spread between processes cannot be seen")
def one_process_only(s: Student) -> None:
    """Took all samples in one process."""
    run = s.measured("copy", plan("page_fault", "copy-on-write, anonymous", processes=1))
    s.figure(COPY, run.value("copy-on-write"), "ns", run)


@LAB.case(Kind.CONCLUSION, FAULT, "another variant was measured: the first read")
def by_naive_run(s: Student) -> None:
    """Handed in the naive run."""
    s.figure(FAULT, s["naive"].value("zero-page"), "ns", s["naive"])


@LAB.case(Kind.CONCLUSION, FAULT, "the run is of one's own C, asked is the kit's page fault")
def by_own_run(s: Student) -> None:
    """Handed in the writes without a preparation, from the run of one's own C."""
    s.figure(FAULT, s["own"].value("unprepared"), "ns", s["own"])


@LAB.case(Kind.CONCLUSION, COPY, "the recording named has no copies")
def copy_by_kinds(s: Student) -> None:
    """Gave the right value with the run `kinds` as evidence."""
    s.figure(COPY, s["copy"].value("copy-on-write"), "ns", s["kinds"])


@LAB.case(Kind.CONCLUSION, FILE, "the value is of another run than the recording")
def file_of_another_day(s: Student) -> None:
    """Took the value of a run of another day, 40 % more, with `file` beside it."""
    s.figure(FILE, s["file"].value("file") * 1.4, "ns", s["file"])


@LAB.case(Kind.FILE, FAULT, "samples of the recording were changed by hand")
def rows_smoothed(s: Student) -> None:
    """Made the samples of three slow processes a tenth shorter."""
    run = s["kinds"]
    s.edit(run, smoothed("anonymous", "[0-2]"))
    s.figure(FAULT, run.value("anonymous"), "ns", run)


@LAB.case(Kind.FILE, FILE, "rows of the recording were deleted by hand")
def rows_deleted(s: Student) -> None:
    """Deleted three processes."""
    run = s["file"]
    s.edit(run, lines_without(r"^file,[0-2],"))
    s.figure(FILE, run.value("file"), "ns", run)


@LAB.case(Kind.FILE, FAULT, "the recording was edited, and its pages were only read")
def reads_renamed(s: Student) -> None:
    """Renamed the variant zero-page in the recording."""
    run = s["naive"]
    s.edit(run, lambda text: text.replace("zero-page", "anonymous"))
    s.figure(FAULT, run.value("zero-page"), "ns", run)


@LAB.case(Kind.FILE, BRING, "the C is missing, so that nobody can see what was timed")
def c_lost(s: Student) -> None:
    """Handed in the recording without its C."""
    run = s["own"]
    (s.folder / run.path).with_suffix(".c").unlink()
    s.figure(BRING, run.value("bring"), "ns", run)


@LAB.case(Kind.FILE, BRING, "the C next to the recording is not the C that was measured")
def c_commented(s: Student) -> None:
    """Wrote a comment into the C after the run."""
    run = s["own"]
    path = (s.folder / run.path).with_suffix(".c")
    path.write_text(path.read_text(encoding="utf-8") + "/* It works. */\n", encoding="utf-8")
    s.figure(BRING, run.value("bring"), "ns", run)


def _right(s: Student) -> None:
    s.figure(FAULT, s["kinds"].value("anonymous"), "ns", s["kinds"])


def _side(s: Student) -> int:
    """Whether a page by MAP_POPULATE costs more than half of a page fault, by the run's table."""
    kinds = s["kinds"]
    times, low, high = confidence.ratio(kinds.estimate("populate"), kinds.estimate("anonymous"))
    if low < 0.6 and high > 0.4:
        raise NoMistake(f"{times:.2g} times: the data are at the edge")
    return 1 if times > 0.5 else 2


@LAB.conclusion(PREFAULT, "the data of this run say otherwise", after=_right, run="kinds")
def prefault_against_data(s: Student) -> float:
    """Concluded by feeling, and not by the two rows."""
    return 3.0 - _side(s)


@LAB.conclusion(
    PREFAULT,
    "the two rows differ by far more than the errors: the data do tell",
    after=_right,
    run="kinds",
)
def prefault_nothing(s: Student) -> float:
    """Concluded 3, to be careful."""
    _side(s)
    return 3.0


@LAB.conclusion(PREFAULT, "there is no conclusion 0", after=_right, run="kinds")
def prefault_0(s: Student) -> float:
    """Counted the conclusions from 0."""
    return 0


@LAB.conclusion(PREFAULT, "the value is no number of the list", after=_right, run="kinds")
def prefault_times(s: Student) -> float:
    """Gave the ratio of the two rows."""
    return s["kinds"].value("populate") / s["kinds"].value("anonymous")
