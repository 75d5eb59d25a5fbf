"""Tape: what forward keeps for backward."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from npbert.core.parameter import Parameter

RULE = "Backward undoes forward in reverse order, so each layer takes back what it kept, the last one first, once."


class TapeError(RuntimeError):
    """A tape was used out of turn: the message says by which layer, and what was on the tape."""


class Tape:
    """A stack. Each forward puts on top what its backward will need, and each backward takes it off again.

    The chain rule runs from the loss back to the input, so the layer that ran last is the first to be undone. A stack
    hands things back in just that order: this is all the bookkeeping that backpropagation needs. (The field's word: the
    tape of reverse-mode differentiation. Griewank & Walther 2008, "Evaluating Derivatives", section 4.2.)

    rng: where dropout draws from; None means no dropout, as in evaluation.
    keeps: False keeps nothing, for a forward that no backward follows. A layer that would compute something for
    backward alone looks at it first.

    Raises: TapeError when what is taken is not what was kept last, when a tape is used twice, or copied.
    """

    def __init__(self, rng: np.random.Generator | None = None, *, keeps: bool = True) -> None:
        if rng is not None and not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng is {rng!r}, wanted a Generator, such as np.random.default_rng(0), or None")
        self.rng = rng
        self.keeps = keeps
        self._kept: list[tuple[Any, tuple[Any, ...]]] = []

    def keep(self, layer: Any, *values: Any) -> None:
        """Put what `layer` will need in backward on top."""
        if self.keeps:
            self._kept.append((layer, values))

    def take(self, layer: Any) -> Any:
        """Take off what `layer` kept last: the value, or a tuple of them where it kept several.

        Raises: TapeError when something else is on top, or nothing.
        """
        if not self._kept:
            empty = "is empty: did forward keep anything, on this tape?"
            why = empty if self.keeps else "keeps nothing: forward needs a `Tape()`."
            raise TapeError(f"{_name(layer)} would take back what it kept, but the tape {why} {RULE}")
        owner, values = self._kept[-1]
        if owner is not layer:
            another = "another " if _name(owner) == _name(layer) else ""
            raise TapeError(
                f"{_name(layer)} would take back what it kept, but on top of the tape is what {another}{_name(owner)} "
                f"kept: {_shapes(values)}. {RULE}"
            )
        self._kept.pop()
        return values[0] if len(values) == 1 else values

    def check_empty(self) -> None:
        """Raise TapeError if something is left: then a backward was forgotten."""
        if self._kept:
            owner, values = self._kept[-1]
            raise TapeError(
                f"backward is over, but the tape still holds what {_name(owner)} kept: {_shapes(values)}. {RULE}"
            )

    def __len__(self) -> int:
        """How many entries are on it: one for each time that a layer kept something."""
        return len(self._kept)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> NoReturn:
        top = f"; on top is what {_name(self._kept[-1][0])} kept" if self._kept else ""
        raise TapeError(f"a tape cannot be copied (it holds {len(self)} entries{top}). {RULE}")

    def __repr__(self) -> str:
        if not self.keeps and self.rng is None:
            return "NO_TAPE"
        if not self._kept:
            return "an empty Tape"
        lines = (f"  {_name(owner)}: {_shapes(values)}" for owner, values in reversed(self._kept))
        return "\n".join([f"Tape of {len(self)}, the top first:", *lines])


NO_TAPE = Tape(keeps=False)
"""The tape that keeps nothing and drops nothing out: for inference."""


def _name(layer: Any) -> str:
    parts = getattr(layer, "__dict__", {}).items()
    parameters = (f"{name} {part.value.shape}" for name, part in parts if isinstance(part, Parameter))
    shapes = ", ".join(parameters)
    return f"{type(layer).__name__} ({shapes})" if shapes else type(layer).__name__


def _shapes(values: Any) -> str:
    if isinstance(values, np.ndarray):
        return f"{values.dtype} {values.shape}"
    if isinstance(values, tuple | list) and any(isinstance(value, np.ndarray | tuple | list) for value in values):
        return ", ".join(map(_shapes, values))
    is_plain = values is None or (isinstance(values, tuple | np.dtype) and not hasattr(values, "_fields"))
    return str(values) if is_plain else type(values).__name__
