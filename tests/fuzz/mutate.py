"""Ways to spoil bytes, lines and JSON."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator

DEEP = "[" * 3000 + "]" * 3000
NASTY: list[Any] = [None, True, False, 0, 1, 2, -1, 3, 2**31, 10**9, 10**12, 2**63, 10**30, -(10**12)]
NASTY += [0.5, 1e-300, 1e308, -0.0, 1.5, float("nan"), float("inf"), -float("inf")]
NASTY += ["", " ", "0", "1", "x", "é", "\u00a0", "\u202e", "a" * 5000, "\x1b[31m", "\ud800", "\n", "\t", "a\tb"]
NASTY += ["[MASK]", "[PAD]", "../..", "/dev/null", "nan", "-100", "1e999", "9" * 50]
NASTY += [[], [1], [[]], ["a", "b"], [None], {}, {"0": "a"}, {"1": "a", "0": "a"}, {"": ""}, [["a", "b"]], [{}]]
NASTY_BYTES = [b"", b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n\n", b"\t", b"\t\t", b'"']
NASTY_BYTES += [b"'", b",", b"\xed\xa0\x80", b"\xc2\xa0", b"\xe2\x80\xae", b"\x1b[2J", b"\x9b", b"[MASK]", b"[CLS]"]
NASTY_BYTES += [b"-100", b"nan", b"inf", b"a" * 5000, b" " * 3000, b"9" * 5000, DEEP.encode(), b"{", b"}", b"[", b"]"]
NASTY_BYTES += [b"\xf0\x9f\x98\x80", b"-DOCSTART-"]


def pick(rng: Rng, choices: Any) -> Any:
    """One of them."""
    return choices[int(rng.integers(len(choices)))]


def spoil_bytes(rng: Rng, data: bytes) -> bytes:
    """The bytes with one to four changes: flipped, cut, put in, doubled, swapped."""
    for _ in range(int(rng.integers(1, 5))):
        place, other = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        match int(rng.integers(7)):
            case 0 if data:
                at = min(place, len(data) - 1)
                data = data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]
            case 1:
                data = data[:place]
            case 2:
                data = data[:place] + pick(rng, NASTY_BYTES) + data[place:]
            case 3:
                data = data[:place] + data[other:]
            case 4:
                data = data[:other] + data[place:]
            case 5:
                data = data[:place] + rng.bytes(int(rng.integers(1, 30))) + data[place:]
            case _:
                data = data[other:] + data[:place]
    return data


def spoil_lines(rng: Rng, text: str, separators: str = "\t") -> bytes:
    """A table or list with lines and cells dropped, doubled, emptied, swapped or replaced; or spoiled as bytes."""
    if rng.random() < 0.3:
        return spoil_bytes(rng, text.encode())
    lines = text.split("\n")
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(lines)))
        separator = pick(rng, separators)
        cells = lines[at].split(separator)
        cell = int(rng.integers(len(cells)))
        match int(rng.integers(7)):
            case 0:
                del cells[cell]
            case 1:
                cells[cell] = str(pick(rng, NASTY))
            case 2:
                cells.insert(cell, pick(rng, cells))
            case 3:
                lines.insert(at, pick(rng, lines))
                continue
            case 4:
                cells[cell] = pick(rng, ["", " ", "\u00a0", "\u200b", "9" * 5000])
            case 5:
                cells = [cell + pick(rng, ["", " ", "\r", "\u00a0"]) for cell in cells]
            case _:
                cells = cells[::-1]
        lines[at] = separator.join(cells)
    return "\n".join(lines).encode(errors="surrogatepass")


def spoil_json(rng: Rng, value: Any) -> Any:
    """The value with one to three of its parts replaced, dropped, doubled, wrapped or renamed."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 4))):
        if not isinstance(value, dict | list) or not value:
            return pick(rng, NASTY)
        owner = value
        while True:
            key = pick(rng, list(owner)) if isinstance(owner, dict) else int(rng.integers(len(owner)))
            inner = owner[key]
            if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
                break
            owner = inner
        match int(rng.integers(6)):
            case 0:
                del owner[key]
            case 1 if isinstance(owner, dict):
                owner[str(pick(rng, NASTY))] = inner
            case 2 if isinstance(inner, int | float) and not isinstance(inner, bool):
                owner[key] = inner * pick(rng, [-1, 0, 2, 0.5, 10**6, 1e300]) + pick(rng, [0, 1])
            case 3:
                owner[key] = pick(rng, [[inner], {"a": inner}, str(inner), [inner, inner]])
            case _:
                owner[key] = copy.deepcopy(pick(rng, NASTY))
    return value


def json_bytes(rng: Rng, value: Any) -> bytes:
    """A spoiled JSON value as bytes, now and then with the text of it spoiled, too."""
    if rng.random() < 0.15:
        return spoil_bytes(rng, json.dumps(value).encode())
    text = json.dumps(spoil_json(rng, value), ensure_ascii=bool(rng.random() < 0.5))
    if rng.random() < 0.03:
        text = text.replace(":", f": {pick(rng, [DEEP, '9' * 5000, 'NaN', '-Infinity'])},", 1)
    return text.encode(errors="surrogatepass")


def spoil(rng: Rng, path: Path) -> None:
    """Spoil a file by what it is, as its name says."""
    if path.suffix == ".json":
        path.write_bytes(json_bytes(rng, json.loads(path.read_bytes() or b"{}")))
    elif path.suffix in (".txt", ".toml", ".jsonl"):
        path.write_bytes(spoil_lines(rng, path.read_text(encoding="utf-8"), "\t" if path.suffix == ".txt" else " "))
    else:
        path.write_bytes(spoil_bytes(rng, path.read_bytes()))
