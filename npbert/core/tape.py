"""Tape: the place where forward keeps what backward will need."""

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import numpy as np

from npbert.core.parts import named_parts
from npbert.display.layers import Entry, describe_layer, describe_tape

RULE = "Backward undoes forward in reverse order, so each layer takes back what it kept, the last one first, once."


Watcher: TypeAlias = Callable[[Any, tuple[Any, ...], Any], object]


class TapeError(RuntimeError):
    """A tape was used out of turn: the message says by which layer, and what was on the tape."""


class Tape:
    """A stack. Each forward puts on top what its backward will need, and each backward takes it off again.

    The chain rule runs from the loss back to the input, so the layer that ran last is the first to be undone. A stack
    hands things back in just that order: this is all the bookkeeping that backpropagation needs. (The field's word: the
    tape of reverse-mode differentiation. Griewank & Walther 2008, "Evaluating Derivatives", section 4.2.)

    rng: where dropout draws from; None means no dropout, as in evaluation.
    keeps: False keeps nothing: for a forward that no backward follows, or one that backward will run again. A layer may
    ask `tape.keeps` before it makes what is to be kept.
    watcher: is told of each call of a layer with this tape, when it is over: watcher(layer, inputs, output).
    Raises: TypeError for an rng that is not a Generator; TapeError for what is taken out of turn, twice, or copied.
    """

    def __init__(
        self, rng: np.random.Generator | None = None, *, keeps: bool = True, watcher: Watcher | None = None
    ) -> None:
        if rng is not None and not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng is {rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")
        self.rng, self.keeps, self.watcher = rng, keeps, watcher
        self.under_way: list[Any] = []  # the layers whose forward is running, the outermost first
        self._entries: list[Entry] = []

    def keep(self, layer: Any, /, **values: Any) -> None:
        """Put what `layer` will need in backward on top, each value by its name."""
        if self.keeps:
            self._entries.append(Entry(layer, values, [*self.under_way, layer][0]))

    def take(self, layer: Any) -> Any:
        """Take off what `layer` kept last: the value, or a tuple of them where it kept several. Raises: TapeError when
        something else is on top, or nothing."""
        if self._entries and self._entries[-1].layer is layer:
            values = tuple(self._entries.pop().values.values())
            return values[0] if len(values) == 1 else values
        name, why = describe_layer(layer), "the tape keeps nothing: forward needs a `Tape()`."
        if self._entries:
            another = "another " if describe_layer(self._entries[-1].layer) == name else ""
            why = f"on top of the tape is what {another}{self._entries[-1]}."
        elif self.keeps:
            why = "the tape is empty: did forward keep anything, on this tape?"
        raise TapeError(f"{name} would take back what it kept, but {why} {RULE}")

    def check_empty(self) -> None:
        """Raise TapeError if something is left: then a backward was forgotten."""
        if self._entries:
            raise TapeError(f"backward is over, but the tape still holds what {self._entries[-1]}. {RULE}")

    def __len__(self) -> int:
        """The number of entries: one for each time that a layer kept something."""
        return len(self._entries)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> NoReturn:
        raise TapeError(f"a tape cannot be copied (it holds {len(self)} entries). {RULE}")

    def __repr__(self) -> str:
        """A line for each entry, the top first: `attention.query: x (5, 8)`. See the docstring of EncoderLayer."""
        if not self._entries:
            return "an empty Tape" if self.keeps or self.rng else "NO_TAPE"
        return describe_tape(self._entries, named_parts)


NO_TAPE = Tape(keeps=False)
"""The tape that keeps nothing and drops nothing out: for inference."""
