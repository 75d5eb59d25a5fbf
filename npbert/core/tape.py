"""Tape: the stack where forward keeps the values for backward."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from npbert.core.checks import check_rng
from npbert.core.parts import named_parts
from npbert.display import Entry, describe_layer

RULE = "Backward runs in the reverse order of forward: each layer takes what it kept once, the last one first."


Watcher = Callable[[Any, tuple[Any, ...], Any], object]


class TapeError(RuntimeError):
    """A layer used the tape out of turn, backward left something on it, or it was copied. The message has the rule."""


class Tape:
    """A stack: each forward puts the values for its backward on top, and each backward takes them off.

    The chain rule runs from the loss back to the input, so the last layer of forward is the first of backward. A stack
    returns its entries in that order: backpropagation needs no other bookkeeping. (The tape of reverse-mode
    differentiation: Griewank & Walther 2008, "Evaluating Derivatives", section 4.2.)

    rng: the generator for dropout; None: no dropout, as in evaluation.
    keeps: False: keep nothing, if no backward follows, or backward runs forward again. A layer may check `tape.keeps`
    before it computes values for backward alone.
    watcher: called after each call of a layer with this tape, as watcher(layer, inputs, output).

    Raises: TypeError for an rng that is not a Generator; TapeError for a take out of turn or a second one, and for a
    copy.
    """

    def __init__(
        self, rng: np.random.Generator | None = None, *, keeps: bool = True, watcher: Watcher | None = None
    ) -> None:
        check_rng(rng)
        self.rng, self.keeps, self.watcher = rng, keeps, watcher
        self.under_way: list[Any] = []  # the layers whose forward is running, the outermost first
        self.entries: list[Entry] = []

    def keep(self, layer: Any, /, **values: Any) -> None:
        """Put the values for the layer's backward on top, each with its name."""
        if self.keeps:
            self.entries.append(Entry(layer, values, [*self.under_way, layer][0]))

    def take(self, layer: Any) -> Any:
        """Take off what `layer` kept last: a value, or a tuple of several. The tape lets go of it, so its
        memory is free once backward returns.

        Raises: TapeError if something else is on top, or nothing."""
        if self.entries and self.entries[-1].layer is layer:
            values = tuple(self.entries.pop().values.values())
            return values[0] if len(values) == 1 else values
        name, why = describe_layer(layer), "this tape keeps nothing: call forward with a `Tape()`."
        if self.entries:
            another = "another " if describe_layer(self.entries[-1].layer) == name else ""
            why = f"on top of the tape is what {another}{self.entries[-1]}."
        elif self.keeps:
            why = "the tape is empty: forward kept nothing on it, or it was taken already."
        raise TapeError(f"{name} cannot take what it kept: {why} {RULE}")

    def check_empty(self) -> None:
        """Raise TapeError if an entry is left, as after a forgotten backward. In a loop of your own, call it yourself:
        the Trainer and the gradient check do."""
        if self.entries:
            raise TapeError(f"backward is over, but the tape still holds what {self.entries[-1]}. {RULE}")

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.entries)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> NoReturn:
        raise TapeError(f"a tape cannot be copied (it holds {len(self)} entries). {RULE}")

    def __repr__(self) -> str:
        """Return a line for each entry, the top first, such as `attention.query: x (5, 8)`; EncoderLayer has an
        example. Without entries, "an empty Tape", or "NO_TAPE" if it never keeps anything and has no dropout."""
        if not self.entries:
            return "an empty Tape" if self.keeps or self.rng else "NO_TAPE"
        paths: dict[int, str] = {}
        for entry in self.entries:
            paths |= {id(part): path for path, part in named_parts(entry.outermost) if path}
        lines = []
        for entry in reversed(self.entries):
            name = paths.get(id(entry.layer), type(entry.layer).__name__)
            lines.append(f"{name}: {entry.kept}")
        return "\n".join(lines)


NO_TAPE = Tape(keeps=False)
"""A tape for inference: it keeps nothing, and has no dropout."""
