"""Tape: the place where forward keeps what backward will need."""

from typing import Any, NoReturn

import numpy as np

from npbert.core.layer import named_parts
from npbert.describe import describe_entry, describe_kept, describe_layer, outermost_layer
from npbert.shown import Row, Sheet, Shown

RULE = "Backward undoes forward in reverse order, so each layer takes back what it kept, the last one first, once."


class TapeError(RuntimeError):
    """A tape was used out of turn: the message says by which layer, and what was on the tape."""


class Tape(Shown):
    """A stack. Each forward puts on top what its backward will need, and each backward takes it off again.

    The chain rule runs from the loss back to the input, so the layer that ran last is the first to be undone. A stack
    hands things back in just that order: this is all the bookkeeping that backpropagation needs. (The field's word: the
    tape of reverse-mode differentiation. Griewank & Walther 2008, "Evaluating Derivatives", section 4.2.)

    rng: where dropout draws from; None means no dropout, as in evaluation.
    keeps: False keeps nothing: for a forward that no backward follows, or one that backward will run again. A layer may
    ask `tape.keeps` before it makes what is to be kept.
    Raises: TypeError for an rng that is not a Generator; TapeError for what is taken out of turn, twice, or copied.
    """

    def __init__(self, rng: np.random.Generator | None = None, *, keeps: bool = True) -> None:
        if rng is not None and not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng is {rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")
        self.rng, self.keeps = rng, keeps
        self._kept: list[tuple[Any, tuple[Any, ...]]] = []
        self._whole: Any = None  # the layer in which print(tape) finds the paths of all others

    def keep(self, layer: Any, *values: Any) -> None:
        """Put what `layer` will need in backward on top."""
        if self.keeps:
            self._whole = self._whole if self._kept else outermost_layer()
            self._kept.append((layer, values))

    def take(self, layer: Any) -> Any:
        """Take off what `layer` kept last: the value, or a tuple of them where it kept several. Raises: TapeError when
        something else is on top, or nothing."""
        if self._kept and self._kept[-1][0] is layer:
            _, values = self._kept.pop()
            return values[0] if len(values) == 1 else values
        name, why = describe_layer(layer), "the tape keeps nothing: forward needs a `Tape()`."
        if self._kept:
            another = "another " if describe_layer(self._kept[-1][0]) == name else ""
            why = f"on top of the tape is what {another}{describe_entry(*self._kept[-1])}."
        elif self.keeps:
            why = "the tape is empty: did forward keep anything, on this tape?"
        raise TapeError(f"{name} would take back what it kept, but {why} {RULE}")

    def check_empty(self) -> None:
        """Raise TapeError if something is left: then a backward was forgotten."""
        if self._kept:
            top = describe_entry(*self._kept[-1])
            raise TapeError(f"backward is over, but the tape still holds what {top}. {RULE}")

    def __len__(self) -> int:
        """The number of entries: one for each time that a layer kept something."""
        return len(self._kept)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> NoReturn:
        raise TapeError(f"a tape cannot be copied (it holds {len(self)} entries). {RULE}")

    def _sheet(self) -> Sheet:
        """A line for each entry, the top first: `attention.query: x (5, 8)`. See the docstring of EncoderLayer."""
        if not self._kept:
            return Sheet("an empty Tape" if self.keeps or self.rng else "NO_TAPE")
        paths = {id(part): path for path, part in named_parts(self._whole)}
        rows = [Row(paths.get(id(one)) or type(one).__name__, (describe_kept(one, kept),)) for one, kept in self._kept]
        return Sheet("", rows=rows[::-1])


NO_TAPE = Tape(keeps=False)
"""The tape that keeps nothing and drops nothing out: for inference."""
