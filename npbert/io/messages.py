"""Messages: the logger called "npbert", of the standard library's `logging`; and what errors and progress are put
together from, the name that a misspelt one was meant to be, too."""

import difflib
import io
import logging
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

LONGEST_LINE, MOST_LINES = 600, 30

_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")

_NOT_THE_USERS = ("npbert", "contextlib", "sklearn", "joblib")

LOGGER = logging.getLogger("npbert")
"""It says little: at INFO, that a head is new; at DEBUG, which files are read.
Without a handler of the program's own, nothing is printed."""

LOGGER.addHandler(logging.NullHandler())


def is_quiet() -> bool:
    """True if nobody wants to see progress: after `logging.getLogger("npbert").setLevel(logging.ERROR)`, or under
    `npbert -q`, there are no bars and no lines of progress."""
    return not LOGGER.isEnabledFor(logging.WARNING)


@contextmanager
def quiet(level: int = logging.ERROR) -> Iterator[None]:
    """While it lasts, npbert logs nothing below that level. At the usual one, there are no bars and no lines of
    progress, as `is_quiet` says."""
    before = LOGGER.level
    LOGGER.setLevel(max(before, level))
    try:
        yield
    finally:
        LOGGER.setLevel(before)


def print_any_letter() -> None:
    r"""From now on, print a letter that the encoding of standard output lacks, as that of a pipe on Windows may, as
    \uXXXX. It would be an error otherwise."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def warn(text: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's that led here, however far in, and through scikit-learn, too."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _NOT_THE_USERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def printable(text: str) -> str:
    """The text as a terminal may show it: what came from a file or a command line may hold anything.

    Control characters are written out (\\x1b, say, which could colour, move or hide what follows), long lines are
    shortened in their middle, and of many lines the first are shown.
    """
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        lines[MOST_LINES - 1 :] = [f"… and {len(lines) - MOST_LINES + 1} lines more"]
    written = (_CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode(), line) for line in lines)
    return "\n".join(map(_shortened, written))


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    half = LONGEST_LINE // 2
    return f"{line[:half]} … ({len(line) - 2 * half:,} characters) … {line[-half:]}"


def counted(count: int, thing: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


MOST_NAMES, _LONGEST_NAME = 10, 30


def listed(names: Collection[str], *, quote: Callable[[str], str] = repr) -> str:
    """Names from a file for an error: the first ten in quotes, each cut to 30 characters, and the number of all."""
    first = islice(names, MOST_NAMES)
    cut = (name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in first)
    more = f", … ({len(names):,} in all)" if len(names) > MOST_NAMES else ""
    return ", ".join(map(quote, cut)) + more


def in_words(error: BaseException) -> str:
    """An error in words for somebody who reads no Python: of the system's, the file and what is wrong with it."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


_MEANT = {  # names that other programs have for the same thing, with underscores
    "bs": "batch_size",
    "check": "gradcheck",
    "clip": "max_grad_norm",
    "dev": "held_out",
    "encode": "embed",
    "eval": "held_out evaluate",
    "gradient_accumulation_steps": "parts",
    "grad_accum": "parts",
    "k": "top_k",
    "lr": "learning_rate",
    "max_seq_length": "max_length",
    "max_steps": "steps",
    "mlm_probability": "mask_probability",
    "ner": "tag",
    "num_train_epochs": "epochs",
    "per_device_train_batch_size": "batch_size",
    "predict": "classify",
    "qa": "answer",
    "seq_length": "max_length",
    "test": "held_out evaluate",
    "tokenizer": "vocabulary vocab",
    "train": "finetune",
    "valid": "held_out",
    "validation": "held_out",
    "validation_data": "held_out",
    "validation_split": "held_out",
    "weights": "sample_weight class_weight",
    "vocab_size": "size",
    "wd": "weight_decay",
}


def closest(name: str, known: Iterable[str]) -> str | None:
    """The one of the known names that `name` was most probably meant to be; None where none is like it.

    Case, and whether words are joined by - or by _, do not matter.
    """
    by_key = {_key(other): other for other in known}
    key = _key(name)
    meant = [other for other in _MEANT.get(key, "").split() if other in by_key]
    begun = [other for other in by_key if key in other.split("_")]
    found = meant or difflib.get_close_matches(key, by_key, n=1) or begun
    return by_key[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error: "; did you mean …?", or nothing where no known name is like it."""
    found = closest(name, known)
    return f"; did you mean {found}?" if found else ""


def _key(name: str) -> str:
    return name.lower().lstrip("-").replace("-", "_")
