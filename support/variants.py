"""Write `labs/c_kernels/variants.json`: the variants of each C kernel, as it lists them itself.

python -m support.variants
"""

from __future__ import annotations

import json

from labs.c_kernels import catalogue
from labs.c_kernels.toolchain import c_kernel_names
from labs.files import write_atomically
from labs.run import variants


def as_listed() -> dict[str, dict[str, str]]:
    """By C kernel, its variants with what each does."""
    return {
        kernel: {each.name: each.about for each in variants.of_kernel(kernel)}
        for kernel in c_kernel_names()
    }


def as_text() -> str:
    """The text of the file."""
    return json.dumps(as_listed(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write_atomically(catalogue.FILE, as_text().encode())
