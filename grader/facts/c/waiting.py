"""How a piece of C lets another task run: locks, signals, and waits that end by themselves."""

from __future__ import annotations

import re

from grader.facts.c.calls import calls
from grader.facts.c.parse import Code

_LOCK = re.compile(r"(?:pthread_(?:mutex|spin)|mtx)_(?:try|timed)?lock")
_UNLOCK = re.compile(r"(?:pthread_(?:mutex|spin)|mtx)_unlock")
_SIGNAL = re.compile(r"(?:pthread_cond|cnd)_(?:signal|broadcast)")
#: What could hand the turn over beside a lock, or wait for it.
_OTHERWISE = re.compile(
    r"sem_\w+|read|write|syscall|p?poll|p?select|kill|pthread_kill"
    r"|(?:pthread_cond|cnd|pthread_barrier)_\w+"
)
_TIMED = re.compile(
    r"u?sleep|(?:clock_)?nanosleep|thrd_sleep|(?:pthread_cond|cnd|sem)_(?:timed|clock)wait"
    r"|p?poll|p?select|epoll_p?wait|sigtimedwait"
)


def only_locks(code: Code) -> bool:
    """Whether `code` takes and gives back a lock and does nothing else that could hand over."""
    names = {each.name for each in calls(code)}
    locks, unlocks = (any(map(kind.fullmatch, names)) for kind in (_LOCK, _UNLOCK))
    return locks and unlocks and not any(map(_OTHERWISE.fullmatch, names))


def signals_under_lock(code: Code) -> bool:
    """Whether `code`, as it is written, signals between a lock and the unlock after it."""
    held = False
    for call in sorted(calls(code), key=lambda each: each.node.start_byte):
        if held and _SIGNAL.fullmatch(call.name):
            return True
        taken = _LOCK.fullmatch(call.name) is not None
        held = taken or (held and _UNLOCK.fullmatch(call.name) is None)
    return False


def wait_with_an_end(code: Code) -> str | None:
    """The first function called that sleeps for a time, or waits until one; None if none is."""
    return next((each.name for each in calls(code) if _TIMED.fullmatch(each.name)), None)


def posts_what_it_waits_for(region: Code) -> bool:
    """Whether `region` waits for the same semaphore that it posts."""
    waited, posted = (
        {each.arguments for each in calls(region) if each.name == name}
        for name in ("sem_wait", "sem_post")
    )
    return bool(waited & posted)
