"""Checksums of a run's inputs, so that a resumed run, or one of several processes, detects differences."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import npbert
from npbert.data import Tokenizer

_SHOWN = 40


def digests(inputs: Mapping[str, Path | str]) -> dict[str, str]:
    """Return the size and the SHA-256 of each file, of each text, and of npbert's code, by name.

    Raises: OSError for a file that cannot be read.
    """
    found = {"code of npbert": _code()}
    for name, each in inputs.items():
        found[name] = _sum(each.open("rb") if isinstance(each, Path) else BytesIO(each.encode()))
    return found


def vocabulary(tokenizer: Tokenizer) -> str:
    """Return a tokenizer as text: the content of its files."""
    with TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        return "".join(file.read_text(encoding="utf-8") for file in sorted(Path(folder).iterdir()))


def differences(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """What has changed, each as a sentence without its end."""
    found = []
    for name in {**before, **now}:
        old, new = before.get(name, "missing"), now.get(name, "missing")
        if old != new:
            found.append(f"{name} was {str(old)[:_SHOWN]} and is {str(new)[:_SHOWN]}")
    return found


@cache
def _code() -> str:
    root = Path(npbert.__file__).parent
    files = sorted([*root.rglob("*.py"), *root.rglob("*.json")])
    sums = "".join(f"{file.relative_to(root)} {_sum(file.open('rb'))}\n" for file in files)
    return _sum(BytesIO(sums.encode()))


def _sum(stream: BinaryIO) -> str:
    found = sha256()
    with stream:
        for data in iter(lambda: stream.read(2**20), b""):
            found.update(data)
        return f"{stream.tell():,} bytes, SHA-256 {found.hexdigest()}"
