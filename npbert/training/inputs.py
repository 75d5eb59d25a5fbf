"""Checksums of a run's inputs, so that a resumed run, or one of several processes, detects differences."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import npbert
from npbert.data.tokenizer import Tokenizer

_SHOWN = 40


def digests(inputs: Mapping[str, Path | str]) -> dict[str, str]:
    """Return the size and the SHA-256 of each file, of each text, and of npbert's code, by name.

    Raises: OSError for a file that cannot be read.
    """
    found = {"code of npbert": _code()}
    for name, each in inputs.items():
        found[name] = _file(each) if isinstance(each, Path) else _sum(each.encode())
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
    return _sum("".join(f"{file.relative_to(root)} {_file(file)}\n" for file in files).encode())


def _sum(data: bytes) -> str:
    return f"{len(data):,} bytes, SHA-256 {sha256(data).hexdigest()}"


def _file(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        for data in iter(lambda: file.read(2**20), b""):
            found.update(data)
        return f"{file.tell():,} bytes, SHA-256 {found.hexdigest()}"
