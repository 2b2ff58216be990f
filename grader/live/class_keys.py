"""What makes a class the same one after a restart: its code, its secret, and its certificate.

They are in the cache folder for a few hours, and hold nothing of a student.
"""

from __future__ import annotations

import secrets
import ssl
import subprocess
import time
from pathlib import Path

from pydantic import Field

from labs import limits, paths
from labs.course.in_class import Kept, digits_of
from labs.files import read_bounded

#: For so long, `grader live` goes on with the same class.
SAME_CLASS_S = 3 * 3600
_WORDS = (
    "acorn", "almond", "apple", "apricot", "badger", "banana", "basil", "beaver", "birch", "cedar",
    "cherry", "clover", "coral", "daisy", "falcon", "fennel", "ginger", "grape", "hazel", "heron",
    "jackal", "kiwi", "koala", "lemon", "lilac", "linden", "lotus", "mango", "maple", "melon",
    "mint", "olive", "orchid", "otter", "papaya", "peach", "penguin", "plum", "robin", "tulip",
)  # fmt: skip


def new_code() -> str:
    """A code with which students join."""
    return f"{secrets.choice(_WORDS)}-{1000 + secrets.randbelow(9000)}"


def pseudonym(row: str) -> str:
    """A student's name for the hour, from the digits that the rows of the class have."""
    number = int(row[:8], 16)
    return f"{_WORDS[number % len(_WORDS)]}-{number // len(_WORDS) % 100:02}"


class Keys(Kept):
    """The code, the secret that signs cookies, and what the instructor shows."""

    made: float = Field(default_factory=time.time)
    code: str = Field(default_factory=new_code)
    secret: str = Field(default_factory=secrets.token_hex)
    number: int = 0
    revealed: set[str] = Field(default_factory=set)
    is_open: bool = True


def keys_of(lab: str, *, new: bool = False) -> tuple[Keys, Path]:
    """The keys of the class on `lab` and their file; new ones, if none began lately.

    Raises CacheNotWritable, CannotWrite.
    """
    file = paths.cache() / "live" / f"class-{lab}.json"
    keys = Keys.read(file)
    if new or not 0 <= time.time() - keys.made < SAME_CLASS_S:
        keys = Keys()
        file.with_suffix(".pem").unlink(missing_ok=True)
    keys.write(file)
    return keys, file


def certificate_of(file: Path) -> tuple[ssl.SSLContext, str]:
    """TLS with the certificate of the class with this file of keys, and the digits to compare.

    It is made once, without an address: students compare it, and no authority knows it. Raises
    OSError, which says why and what to do.
    """
    pem = file.with_suffix(".pem")  # the key, and after it the certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    made += ["-nodes", "-keyout", str(pem), "-out", str(pem), "-days", "2"]
    said = ""
    try:
        if not pem.is_file():
            said = paths.run([*made, "-subj", "/CN=Ticklab class"], 20).stderr.strip()[-200:]
        context.load_cert_chain(pem)
        text = read_bounded(pem, limits.MOST_JSON_BYTES).decode()
        certificate = text[text.index("-----BEGIN CERTIFICATE") :]
        return context, digits_of(ssl.PEM_cert_to_DER_cert(certificate))
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        why = f"openssl has made no certificate: {error} {said}".strip()
        todo = "install the program openssl and begin with --new, or share by a JupyterHub"
        raise OSError(f"{why}; {todo}") from error
