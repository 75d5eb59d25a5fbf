"""Ways to spoil bytes, lines and JSON."""

import copy
import json

DEEP = "[" * 3000 + "]" * 3000
NASTY = [None, True, False, 0, 1, 2, -1, 2**31, 2**63, 10**30, 0.5, 1e-300, 1e308]
NASTY += [float("nan"), float("inf"), [], [1], [[]], [None], ["a", "b"], {}, {"0": "a"}, {"": ""}]
NASTY += ["", "a" * 5000, "\n", "a\tb", "9" * 5000]
NASTY += ["0", "x", "é", "\u202e", "\x1b[31m", "\ud800", "[PAD]", "[MASK]", "/dev/null", "-100", "1e999"]
NASTY_BYTES = [b"", b"\n\n\n", b"\t\t", b"a" * 5000, b" " * 3000, b"9" * 5000, DEEP.encode()]
NASTY_BYTES += b"\x00 \xff \xfe\xff \xef\xbb\xbf \xed\xa0\x80 \xe2\x80\xae \x1b[2J \x9b ' , { ] nan [MASK]".split(b" ")


def pick(rng, choices):
    """One of them."""
    return choices[int(rng.integers(len(choices)))]


def spoil_bytes(rng, data):
    """The bytes with one to four changes: flipped, cut, put in, left out, doubled."""
    for _ in range(int(rng.integers(1, 5))):
        start, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        flipped = bytes(byte ^ 1 << int(rng.integers(8)) for byte in data[start : start + 1])
        between = [flipped + data[start + 1 : end], b"", data[start:end] * 2, rng.bytes(9), pick(rng, NASTY_BYTES)]
        data = data[:start] + pick(rng, between) + pick(rng, [data[end:], data[end:], data[start:], b""])
    return data


def spoil_json(rng, value):
    """The value with one to three of its parts replaced, dropped, wrapped, scaled or renamed."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 4))):
        if not isinstance(value, dict | list) or not value:
            return pick(rng, NASTY)
        owner, inner = {"": value}, value
        while isinstance(inner, dict | list) and inner and (inner is value or rng.random() < 0.7):
            owner = inner
            key = pick(rng, list(owner) if isinstance(owner, dict) else range(len(owner)))
            inner = owner[key]
        match int(rng.integers(6)):
            case 0:
                del owner[key]
            case 1 if isinstance(owner, dict):
                owner[str(pick(rng, NASTY))] = inner
            case 2 if isinstance(inner, int | float):
                owner[key] = inner * pick(rng, [-1, 0, 2, 0.5, 10**6, 1e300]) + pick(rng, [0, 1])
            case 3:
                owner[key] = pick(rng, [[inner], {"a": inner}, str(inner), [inner, inner]])
            case _:
                owner[key] = copy.deepcopy(pick(rng, NASTY))
    return value


def spoil_lines(rng, text, separator="\t"):
    """A table or list with lines and cells spoiled as JSON is, or all of it as bytes."""
    if rng.random() < 0.3:
        return spoil_bytes(rng, text.encode())
    rows = spoil_json(rng, [line.split(separator) for line in text.split("\n")])
    lines = [separator.join(map(str, row)) if isinstance(row, list) else str(row) for row in rows or [""]]
    return "\n".join(lines).encode(errors="surrogatepass")


def json_bytes(rng, value):
    """A spoiled JSON value as bytes, now and then with the text of it spoiled, too."""
    if rng.random() < 0.15:
        return spoil_bytes(rng, json.dumps(value).encode())
    text = json.dumps(spoil_json(rng, value), ensure_ascii=bool(rng.random() < 0.5))
    if rng.random() < 0.03:
        text = text.replace(":", f": {pick(rng, [DEEP, '9' * 5000, 'NaN', '-Infinity'])},", 1)
    return text.encode(errors="surrogatepass")


def spoil(rng, path):
    """Spoil a file by what it is, as its name says."""
    data = path.read_bytes()
    if path.suffix == ".json":
        data = json_bytes(rng, json.loads(data or b"{}"))
    elif path.suffix in (".txt", ".toml", ".jsonl"):
        data = spoil_lines(rng, data.decode(), " ")
    else:
        data = spoil_bytes(rng, data)
    path.write_bytes(data)
