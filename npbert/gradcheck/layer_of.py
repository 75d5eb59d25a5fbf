"""function_of: turns the code to check into a layer, and finds the inputs with a gradient. KINDS: the ways to write
functions."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from npbert.core import Layer
from npbert.gradcheck.calls import WANTED, form_of_functions, form_of_loss, form_of_object, is_stateful
from npbert.gradcheck.engine import form_of_engine, values_in
from npbert.gradcheck.exact.arrays import Held
from npbert.gradcheck.forms import Form, as_array, is_tensor
from npbert.gradcheck.forward import check_moves
from npbert.gradcheck.function import ScalarFunction
from npbert.gradcheck.gradients import Grads, find
from npbert.gradcheck.inputs import Function, Rng, as_list, asked, mapped, names_given
from npbert.gradcheck.restoring import everything_restored


@contextmanager
def function_of(
    given: Any,
    inputs: Sequence[Any],
    rng: Rng,
    seed: int,
    wrt: Sequence[str] = (),
    grads: Grads | None = None,
) -> Iterator[ScalarFunction]:
    """Give a layer for the given code as a function of its numbers, with inputs as float64 arrays; afterwards restore
    the program. An npbert layer stays unchanged.

    given: see `check_gradients`; two functions may also be two arguments.
    wrt: the names of the inputs with a gradient. By default they follow from backward's result: a gradient for each
    input (or None), for each array of floats, or for each array and float; for a loss, for the first inputs with these
    shapes.

    Raises: TypeError for an unknown form; ValueError if the inputs of the gradients are ambiguous, or without a number
    to check.
    """
    with everything_restored(given, *inputs):
        form = _form(given, inputs)
        if form:
            find(form, grads or {}, wrt)
            inputs = mapped(as_array, [*form.values.values()])
            check_moves(form, inputs)
        function = ScalarFunction(form or given, inputs, rng, seed)
        if not function.size:
            raise ValueError("nothing to check: the layer has no parameters, and no input is a float array")
        yield function


def _form(given: Any, inputs: Sequence[Any]) -> Form | None:
    """Return the first Form that fits: of an engine, of an object with state, or of functions, by the first of KINDS;
    None for a layer of npbert's kind.

    Raises: TypeError if none fits."""
    if _is_of_engine(given, inputs):
        return form_of_engine(given, inputs)
    if _has_tape(given):
        return None
    if is_stateful(given):
        return form_of_object(given, inputs)
    parts, rest = as_list(given), list(inputs)
    if len(parts) == 1 and rest and callable(rest[0]) and not hasattr(given, "fwd"):
        parts.append(rest.pop(0))
    for attributes, form in KINDS:
        if len(attributes) == len(parts) and all(map(hasattr, parts, attributes)):
            return form(*parts, rest)
    kinds = ", ".join(getattr(part, "__name__", type(part).__name__) for part in parts)
    called = "" if all(map(callable, parts)) else "; pass the function itself, not its result"
    raise TypeError(f"({kinds}) is not a known form: {WANTED}{called}")


def _has_tape(given: Any) -> bool:
    """True for a layer of npbert's kind. Raises: TypeError for its class, or for a forward without the tape of its
    backward."""
    name = getattr(given, "__name__", type(given).__name__)
    forward, backward = (getattr(given, method, None) for method in ("forward", "backward"))
    is_layer = _takes_tape(forward) or isinstance(given, Layer)
    has_one = is_layer or _takes_tape(backward)
    if isinstance(given, type):
        if has_one:
            raise TypeError(f"{name} is a class, wanted a layer, such as {name}()")
    elif inspect.isroutine(forward) and not is_layer and (has_one or not is_stateful(given)):
        if backward is None:
            raise TypeError(f"{name} has a forward and no backward, wanted both")
        raise TypeError(f"{name}.forward takes no tape, wanted forward(x, tape=NO_TAPE) and backward(dy, tape)")
    return is_layer


def _takes_tape(function: Any) -> bool:
    return inspect.isroutine(function) and "tape" in inspect.signature(function).parameters


def _is_of_engine(given: Any, inputs: Sequence[Any]) -> bool:
    """True for a function of an engine's values, or a model that holds some. (A function's globals may be
    unrelated.)"""
    held = list(inputs) if is_stateful(given) or inspect.isfunction(given) else [given, *inputs]
    is_function = callable(given) and not isinstance(given, type) and not any(map(callable, inputs))
    return is_function and any(values_in(held))


def _with_context(owner: Any, inputs: list[Any]) -> Form:
    """PyTorch's and minitorch's: forward(ctx, …) and backward(ctx, d). PyTorch's get tensors."""
    torch: Any = sys.modules.get("torch")
    is_torch = torch is not None and issubclass(owner, torch.autograd.Function)
    setup = vars(owner).get("setup_context")

    def tensor(value: Any) -> Any:
        is_array = isinstance(value, np.ndarray | np.floating) and value.dtype != object  # of exact numbers
        return torch.from_numpy(np.array(value)) if is_torch and is_array else value

    def run(_: Any, arguments: list[Any]) -> tuple[Any, Function]:
        tensors, ctx = mapped(tensor, arguments), _Context(needs_input_grad=(True,) * len(inputs))
        y = owner.forward(*tensors) if setup else owner.forward(ctx, *tensors)
        if setup:
            setup(ctx, tensors, y)
        return y, lambda dy: owner.backward(ctx, *as_list(mapped(tensor, dy)))

    return Form(names_given(owner.forward, len(inputs), skip=0 if setup else 1), inputs, run)


class _Context(SimpleNamespace):
    """The ctx of PyTorch and of minitorch, where forward keeps values for backward."""

    saved_tensors = saved_values = ()

    def save_for_backward(self, *values: Any) -> None:
        self.saved_tensors = self.saved_values = values

    def mark_dirty(self, *values: Any) -> None:
        pass

    mark_non_differentiable = set_materialize_grads = mark_dirty


def _applied(f: Function, owner: Any, inputs: list[Any]) -> Form:
    """TinyTorch's: f, and a class with apply(grad), constructed from the inputs (and perhaps y). If its module has a
    Tensor, it gets Tensors, and so does f if the inputs are Tensors."""
    tensor = next((type(value) for value in inputs if is_tensor(value)), None)
    made_of = owner.apply.__globals__.get("Tensor", tensor)

    def held(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        made = made_of(np.zeros(value.shape)) if made_of else SimpleNamespace(shape=value.shape)
        made.data, made.requires_grad = value, True
        return made

    def run(_: Any, arguments: list[Any]) -> tuple[Any, Function]:
        tensors = list(map(held, arguments))
        y = f(*(tensors if tensor else arguments))
        takes_y = len(asked(owner)) == len(inputs) + 1
        made = owner(*tensors, *map(held, as_list(y) if takes_y else []))
        return y, lambda dy: made.apply(dy.view(Held) if type(dy) is np.ndarray else dy)

    return Form(names_given(f, len(inputs)), inputs, run)


def _with_residuals(owner: Any, inputs: list[Any]) -> Form:
    """jax.custom_vjp: `y, residuals = fwd(…)` and bwd(residuals, dy)."""
    kind = type(owner)
    jax_call = kind.__call__

    @contextmanager
    def of_arrays() -> Iterator[None]:
        """Within it, JAX computes in 64 bits, and a custom_vjp, which fwd may call, is its plain function."""
        jax: Any = sys.modules.get("jax")
        kind.__call__ = lambda self, *inputs, **options: self.fun(*inputs, **options)
        try:
            with jax.enable_x64(True) if hasattr(jax, "enable_x64") else nullcontext():
                yield
        finally:
            kind.__call__ = jax_call

    @of_arrays()
    def run(_: Any, arguments: list[Any]) -> tuple[Any, Function]:
        y, residuals = owner.fwd(*arguments)
        constants = [arguments[position] for position in getattr(owner, "nondiff_argnums", ())]
        return y, of_arrays()(lambda dy: owner.bwd(*constants, residuals, dy))

    return Form(names_given(owner.fun, len(inputs)), inputs, run)


KINDS: list[tuple[list[str], Callable[..., Form]]] = [
    (["bwd"], _with_residuals),
    (["forward"], _with_context),
    (["__call__", "apply"], _applied),
    (["__call__", "__call__"], form_of_functions),
    (["__call__"], form_of_loss),
]
"""The ways to write a forward and a backward: an attribute of each part, which tells it from the others, and its
Form."""
