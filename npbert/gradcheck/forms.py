"""Forms: what others write, as a layer. Whatever the form, it comes to two things: forward values, and a vjp.

A form says how its own functions are called, and where the gradients are in what they return; see `others.py` for which
form it is. All that checks, proves and explains a layer then serves what others wrote, as it is.
"""

import copy
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from npbert.core import NO_TAPE, Layer, Tape
from npbert.gradcheck.exact.arrays import Held, Numbers, as_numbers, constants_like, is_exact
from npbert.gradcheck.exact.number import NoRuleError, Number
from npbert.gradcheck.exact.run import UNKNOWN
from npbert.gradcheck.inputs import is_float_array

Put = Callable[[Any], None]


class Form(Layer):
    """f, undo: the author's two functions.   input_names: of what f is given

    moved: the positions of the inputs that have a gradient; None for all float arrays.   pick: which of the gradients
    that come back are theirs, or None for all.   edited: other functions in the place of the author's, by name.
    """

    f_name, undo_name = "f", "undo"

    def __init__(self, f: Callable[..., Any], undo: Callable[..., Any], names: Sequence[str]) -> None:
        self._f, self._undo, self.input_names = f, undo, list(names)
        self.moved: list[int] | None = None
        self.pick: list[Any] | None = None
        self.edited: dict[str, Callable[..., Any]] = {}
        self._helpers = list(helpers_of(f, undo))

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.copy(self)

    @property
    def f(self) -> Callable[..., Any]:
        """The author's forward, or what stands in its place."""
        return self.edited.get("forward", self._f)

    @property
    def undo(self) -> Callable[..., Any]:
        """The author's backward, or what stands in its place."""
        return self.edited.get("backward", self._undo)

    def run(self, inputs: list[Any]) -> tuple[Any, Any]:
        """y, and what backward will need: here the inputs."""
        return self.f(*inputs), inputs

    def gradients(self, dy: Any, kept: Any) -> Any:
        """What the author's backward says, for dy: here that of vjp(dy, *inputs), with one dy for all or one each."""
        is_each = isinstance(dy, tuple) and count_of(self._undo) == len(dy) + len(kept)
        return self.undo(*(dy if is_each else [dy]), *kept)

    def forward(self, *inputs: Any, tape: Tape = NO_TAPE) -> Any:
        """The author's, on copies."""
        with self._as_written(0):
            y, kept = self.run([_own(value, p in (self.moved or ())) for p, value in enumerate(inputs)])
        tape.keep(self, kept)
        return _each(plain, y)

    def backward(self, dy: Any, tape: Tape) -> Any:
        """The author's, on copies; the gradients of those inputs that have one."""
        kept = tape.take(self)
        with self._as_written(1):
            found = _each(plain, self.gradients(_each(_own, dy), kept))
        found = found if isinstance(found, tuple | dict) else (found,)
        return found if self.pick is None else tuple(found[key] for key in self.pick)

    def once(self, inputs: Sequence[Any]) -> tuple[Any, Callable[[], Any]]:
        """What the author's forward gives, and a function for what backward gives then for a dy of ones."""
        with self._as_written(0):
            y, kept = self.run(list(map(_own, inputs)))

        def then() -> Any:
            with self._as_written(1):
                return self.gradients(_each(lambda part: np.ones(np.shape(plain(part))), y), kept)

        return y, then

    @contextmanager
    def _as_written(self, seed: int) -> Iterator[None]:
        """The same draws from NumPy's global generator in each forward, and others in backward; and what was edited.

        Raises: NoRuleError for whatever the author's code raises on exact numbers.
        """
        state, edited = np.random.get_state(), [each for each in self._helpers if each[0] in self.edited]
        np.random.seed(seed)
        try:
            for name, _, _, put in edited:
                put(self.edited[name])
            yield
        except Exception as error:
            if is_exact() and not isinstance(error, UNKNOWN):
                raise NoRuleError(f"{type(error).__name__}: {error}").with_traceback(error.__traceback__) from error
            raise
        finally:
            np.random.set_state(state)
            for _, _, now, put in edited:
                put(now)

    def functions(self) -> Iterator[tuple[str, Any]]:
        """The author's functions by name, backward first, each with the helpers that it calls."""
        for name, function in (("backward", self._undo), ("forward", self._f)):
            yield name, function
            yield from ((helper, each) for helper, each, _, _ in helpers_of(function))


class Cached(Form):
    """`out, cache = f(…)` and `gradients = undo(dout, cache)`, or more of them: as many as backward has a dout for.
    What it asks for after the cache is what f was given under that name."""

    def __init__(self, f: Callable[..., Any], undo: Callable[..., Any], names: Sequence[str], outs: int) -> None:
        super().__init__(f, undo, names)
        self._outs = outs

    def run(self, inputs: list[Any]) -> tuple[Any, Any]:
        *y, cache = self.f(*inputs)
        more = positional(self._undo)[self._outs + 1 :]
        again = {name: value for name, value in zip(self.input_names, inputs, strict=True) if name in more}
        return (y[0] if self._outs == 1 else tuple(y[: self._outs])), (cache, again)

    def gradients(self, dy: Any, kept: Any) -> Any:
        cache, again = kept
        return self.undo(*_tuple(dy), cache, **again)


class LossWithGradients(Form):
    """`loss, dx = f(x, …)`, all in one call."""

    def functions(self) -> Iterator[tuple[str, Any]]:
        yield "forward", self._f
        yield from ((helper, each) for helper, each, _, _ in helpers_of(self._f))

    def returns_gradients(self, inputs: Sequence[Any]) -> bool:
        """True if f returns a number first, and something after it."""
        with self._as_written(0):
            y = self.f(*map(_own, inputs))
        return isinstance(y, tuple) and len(y) > 1 and np.size(plain(y[0])) == 1

    def run(self, inputs: list[Any]) -> tuple[Any, Any]:
        loss, *found = self.f(*inputs)
        return loss, found[0] if len(found) == 1 else tuple(found)

    def gradients(self, dy: Any, kept: Any) -> Any:
        return {key: dy * g for key, g in kept.items()} if isinstance(kept, dict) else _each(lambda g: dy * g, kept)


class WithContext(Form):
    """A class with `forward(ctx, …)` and `backward(ctx, d)`, as in PyTorch and minitorch. Of PyTorch, it is given
    tensors."""

    def __init__(self, owner: Any, f: Callable[..., Any], undo: Callable[..., Any], names: Sequence[str]) -> None:
        super().__init__(f, undo, names)
        torch: Any = sys.modules.get("torch")
        self._takes_tensors = torch is not None and issubclass(owner, torch.autograd.Function)
        self._setup = getattr(owner, "setup_context", None) if "setup_context" in vars(owner) else None

    def run(self, inputs: list[Any]) -> tuple[Any, Any]:
        ctx = _Context(len(inputs))
        given = _each(self._tensor, tuple(inputs))
        y = self.f(*given) if self._setup else self.f(ctx, *given)
        if self._setup:
            self._setup(ctx, given, y)
        return y, ctx

    def gradients(self, dy: Any, kept: Any) -> Any:
        return self.undo(kept, *_tuple(_each(self._tensor, dy)))

    def _tensor(self, value: Any) -> Any:
        is_array = isinstance(value, np.ndarray | np.floating) and not isinstance(value, Numbers)
        return sys.modules["torch"].from_numpy(np.array(value)) if self._takes_tensors and is_array else value


class _Context(SimpleNamespace):
    """ctx: what forward keeps for backward. (Where PyTorch asks for more, there is nothing to do.)"""

    def __init__(self, count: int) -> None:
        super().__init__(needs_input_grad=(True,) * count, saved_tensors=(), saved_values=())
        self.mark_dirty = self.mark_non_differentiable = self.set_materialize_grads = lambda *_: None

    def save_for_backward(self, *values: Any) -> None:
        """Kept under the names of PyTorch and of minitorch."""
        self.saved_tensors = self.saved_values = values


class Applied(Form):
    """f, and a class that is made of the inputs (and perhaps of y), with `apply(grad)`: TinyTorch's. Where its module
    has a Tensor, the class is given Tensors."""

    def __init__(self, owner: Any, f: Callable[..., Any], names: Sequence[str], tensor: Any) -> None:
        super().__init__(f, owner.apply, names)
        self._owner, self._tensor, self.takes_tensors = owner, owner.apply.__globals__.get("Tensor", tensor), tensor

    def run(self, inputs: list[Any]) -> tuple[Any, Any]:
        tensors = [self._held(value) for value in inputs]
        y = self.f(*(tensors if self.takes_tensors else inputs))
        takes = count_of(self._owner)
        return y, self._owner(*tensors, *map(self._held, _tuple(y) if takes == len(inputs) + 1 else ()))

    def gradients(self, dy: Any, kept: Any) -> Any:
        return self.undo(kept, dy.view(Held) if type(dy) is np.ndarray else dy)

    def _held(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        made = self._tensor(np.zeros(value.shape)) if self._tensor else SimpleNamespace(shape=value.shape)
        made.data, made.requires_grad = value, True
        return made


class Residuals(Form):
    """jax.custom_vjp: `y, residuals = fwd(…)` and `gradients = bwd(residuals, dy)`."""

    def __init__(self, owner: Any, names: Sequence[str]) -> None:
        super().__init__(owner.fwd, owner.bwd, names)
        self._constant = [range(len(names))[position] for position in getattr(owner, "nondiff_argnums", ())]
        self.edited = {name: owner.fun for name, _, now, _ in self._helpers if now is owner}

    def run(self, inputs: list[Any]) -> tuple[Any, Any]:
        with _in_64_bits():
            y, residuals = self.f(*inputs)
        return y, (*(inputs[position] for position in self._constant), residuals)

    def gradients(self, dy: Any, kept: Any) -> Any:
        with _in_64_bits():
            return self.undo(*kept, dy)


def _in_64_bits() -> Any:
    jax: Any = sys.modules.get("jax")
    return jax.enable_x64(True) if hasattr(jax, "enable_x64") else nullcontext()


def helpers_of(*functions: Any) -> Iterator[tuple[str, Any, Any, Put]]:
    """The functions of the author's that these call, and what those call: name, function, what stands under the name,
    and how to put another one there."""
    seen: set[int] = set()
    waiting = [function for function in functions if isinstance(function, FunctionType)]
    top = {str(function.__module__).partition(".")[0] for function in waiting}
    while waiting:
        function = waiting.pop(0)
        for name, now, put in _names_in(function):
            helper = getattr(now, "fun", now)  # of a jax.custom_vjp
            is_theirs = isinstance(helper, FunctionType) and str(helper.__module__).partition(".")[0] in top
            if is_theirs and id(helper) not in seen:
                seen.add(id(helper))
                waiting.append(helper)
                yield name, helper, now, put


def _names_in(function: Any) -> Iterator[tuple[str, Any, Put]]:
    """What a function finds in its module, in modules there and in its closure."""
    code, scope = function.__code__, function.__globals__
    modules = [vars(scope[name]) for name in code.co_names if isinstance(scope.get(name), ModuleType)]
    for where in (scope, *modules):
        for name in code.co_names:
            if name in where:
                yield name, where[name], lambda new, where=where, name=name: where.__setitem__(name, new)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents, lambda new, cell=cell: setattr(cell, "cell_contents", new)


def positional(function: Any) -> list[str]:
    """The names of what a function asks for."""
    try:
        asked = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a ufunc has no signature
        return []
    return [each.name for each in asked if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def count_of(function: Any, *, needed: bool = False) -> int:
    """How many arguments it asks for; needed: without those that have a default."""
    names = positional(function)
    defaults = getattr(function, "__defaults__", None) or ()
    return len(names) - len(defaults) * needed


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    """The change made to a value, or to each in a tuple, list or dict."""
    if isinstance(value, dict):
        return {key: change(each) for key, each in value.items()}
    return tuple(map(change, value)) if isinstance(value, tuple | list) else change(value)


def _own(value: Any, is_moved: bool = False) -> Any:
    """A copy; of an array without axes that is moved, its number. Floats that stay where they are become exact ones
    among such, or their sums would be rounded."""
    if isinstance(value, np.ndarray):
        value = value[()] if is_moved and not value.ndim else value.copy()
        return constants_like(value) if is_exact() and is_float_array(value) else value
    return {key: _own(each) for key, each in value.items()} if type(value) is dict else copy.deepcopy(value)


def plain(value: Any) -> Any:
    """An array of float64, of complex numbers or of exact ones, for whatever tensor or number it is."""
    if value is None or isinstance(value, Number | Numbers):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    elif not isinstance(value, np.ndarray | np.generic) and isinstance(getattr(value, "data", None), np.ndarray):
        return plain(value.data)
    array = np.asarray(value)
    if array.dtype == object:
        return as_numbers(array)
    return array.astype(complex if array.dtype.kind == "c" else float)
