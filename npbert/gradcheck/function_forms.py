"""form_of: the Form of other people's functions. KINDS declares the ways to write them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from npbert.gradcheck.exact.arrays import Held, Numbers
from npbert.gradcheck.exact.number_modules import told
from npbert.gradcheck.forms import Form, is_tensor, own, plain
from npbert.gradcheck.inputs import Function, as_list, asked, mapped, names_given

_NUMBERS = np.ndarray, np.generic, float, int, complex, type(None)


class Given(NamedTuple):
    """One or two functions, and the inputs. tensor: the type of the inputs, if they are tensors."""

    parts: list[Any]
    inputs: list[Any]
    tensor: type | None

    def names(self, function: Function, *, skip: int = 0) -> list[str]:
        """Return the names of the inputs, by this function."""
        return names_given(function, len(self.inputs), skip=skip)

    def result(self) -> Any:
        """Return the result of the first function."""
        np.random.seed(0)
        with told("forward"):
            return self.parts[0](*map(own, self.inputs))


def form_of(given: Given) -> Form:
    """Return the Form of one or two functions: by the first of KINDS that fits.

    Raises: TypeError if none fits."""
    for attributes, form in KINDS.values():
        if len(attributes) == len(given.parts) and all(map(_has, given.parts, attributes)):
            return form(given)
    kinds = ", ".join(getattr(part, "__name__", type(part).__name__) for part in given.parts)
    called = "" if all(map(callable, given.parts)) else "; pass the function itself, not its result"
    raise TypeError(f"({kinds}) is not a known form: {_how()}{called}")


def _has(part: Any, names: list[str]) -> bool:
    return all(hasattr(part, name) for name in names)


def _how() -> str:
    return f"wanted a layer with forward and backward; a function of an autograd engine's values; {'; '.join(KINDS)}"


def _of_two(given: Given) -> Form:
    """`y = f(…)` and backward(dy, …) with the same inputs. Or CS231n's: `out, cache = f(…)` and backward(dout, cache),
    where further arguments of backward are inputs of f by name. Several y have a tuple dy, or several dy."""
    f, backward = given.parts
    names, wanted, y = given.names(f), asked(backward), given.result()
    outs = 0  # the number of outputs before a cache
    if isinstance(y, tuple) and len(y) > 1:
        douts = sum(name not in names for name in asked(backward, required=True)[1:])
        if len(wanted) == len(y):
            outs = len(y) - 1
        elif wanted[-len(names) :] != names and douts < len(y):
            outs = douts
    if not outs:
        _check_numbers(f, y)
    by_name = wanted[outs + 1 :] if outs else []

    def run(_: Any, inputs: list[Any]) -> tuple[Any, Any]:
        y = f(*inputs)
        if not outs:
            return y, (inputs, {})
        *ys, cache = y
        again = {name: value for name, value in zip(names, inputs, strict=True) if name in by_name}
        return (ys[0] if outs == 1 else tuple(ys[:outs])), ([cache], again)

    def back(dy: Any, kept: Any) -> Any:
        values, again = kept
        is_each = isinstance(dy, tuple) and (outs or len(wanted) == len(dy) + len(values))
        return backward(*(dy if is_each else [dy]), *values, **again)

    return Form(names, given.inputs, run, back)


def _check_numbers(f: Function, y: Any) -> None:
    outputs = as_list(y)
    if not all(isinstance(part, _NUMBERS) or is_tensor(part) for part in outputs):
        kinds = ", ".join(type(each).__name__ for each in outputs)
        raise TypeError(
            f"{getattr(f, '__name__', f)} returns ({kinds}), wanted an array, or a tuple of them; or (out, "
            "cache), with a backward that names what it is given: backward(dout, cache), and not backward(*args)"
        )


def _of_a_loss(given: Given) -> Form:
    """CS231n's losses: `loss, dx = f(x, …)`, in one call."""
    f, y = given.parts[0], given.result()
    if not isinstance(y, tuple) or len(y) < 2 or np.size(plain(y[0])) != 1:
        raise TypeError(f"{getattr(f, '__name__', f)} alone gives no gradients: {_how()}")

    def run(_: Any, inputs: list[Any]) -> tuple[Any, Any]:
        loss, *found = f(*inputs)
        return loss, found[0] if len(found) == 1 else tuple(found)

    return Form(given.names(f), given.inputs, run, lambda _, found: found, takes_dy=False)


def _with_context(given: Given) -> Form:
    """PyTorch's and minitorch's: forward(ctx, …) and backward(ctx, d). PyTorch's get tensors."""
    (owner,) = given.parts
    torch: Any = sys.modules.get("torch")
    is_torch = torch is not None and issubclass(owner, torch.autograd.Function)
    setup = owner.setup_context if "setup_context" in vars(owner) else None

    def tensor(value: Any) -> Any:
        is_array = isinstance(value, np.ndarray | np.floating) and not isinstance(value, Numbers)
        return torch.from_numpy(np.array(value)) if is_torch and is_array else value

    def run(_: Any, inputs: list[Any]) -> tuple[Any, Any]:
        tensors, ctx = mapped(tensor, inputs), _Context(needs_input_grad=(True,) * len(inputs))
        y = owner.forward(*tensors) if setup else owner.forward(ctx, *tensors)
        if setup:
            setup(ctx, tensors, y)
        return y, ctx

    names = given.names(owner.forward, skip=0 if setup else 1)
    return Form(names, given.inputs, run, lambda dy, ctx: owner.backward(ctx, *as_list(mapped(tensor, dy))))


class _Context(SimpleNamespace):
    """The ctx of PyTorch and of minitorch, where forward keeps values for backward."""

    saved_tensors = saved_values = ()

    def save_for_backward(self, *values: Any) -> None:
        self.saved_tensors = self.saved_values = values

    def mark_dirty(self, *values: Any) -> None:
        pass

    mark_non_differentiable = set_materialize_grads = mark_dirty


def _applied(given: Given) -> Form:
    """TinyTorch's: f, and a class with apply(grad), constructed from the inputs (and perhaps y). If its module has a
    Tensor, it gets Tensors, and so does f if the inputs are Tensors."""
    f, owner = given.parts
    made_of = owner.apply.__globals__.get("Tensor", given.tensor)

    def held(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        made = made_of(np.zeros(value.shape)) if made_of else SimpleNamespace(shape=value.shape)
        made.data, made.requires_grad = value, True
        return made

    def run(_: Any, inputs: list[Any]) -> tuple[Any, Any]:
        tensors = list(map(held, inputs))
        y = f(*(tensors if given.tensor else inputs))
        takes_y = len(asked(owner)) == len(inputs) + 1
        return y, owner(*tensors, *map(held, as_list(y) if takes_y else []))

    def back(dy: Any, kept: Any) -> Any:
        return owner.apply(kept, dy.view(Held) if type(dy) is np.ndarray else dy)

    return Form(given.names(f), given.inputs, run, back)


def _with_residuals(given: Given) -> Form:
    """jax.custom_vjp: `y, residuals = fwd(…)` and bwd(residuals, dy)."""
    (owner,), count = given.parts, len(given.inputs)
    constant = [range(count)[position] for position in getattr(owner, "nondiff_argnums", ())]
    kind: Any = type(owner)
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

    def run(_: Any, inputs: list[Any]) -> tuple[Any, Any]:
        with of_arrays():
            y, residuals = owner.fwd(*inputs)
        return y, (*(inputs[position] for position in constant), residuals)

    def back(dy: Any, kept: Any) -> Any:
        with of_arrays():
            return owner.bwd(*kept, dy)

    return Form(given.names(owner.fun), given.inputs, run, back)


_FUNCTION, _CLASS = "__call__", "__mro__"
KINDS: dict[str, tuple[list[list[str]], Callable[[Given], Form]]] = {
    "a jax.custom_vjp": ([["fwd", "bwd"]], _with_residuals),
    "a class with forward(ctx, …) and backward(ctx, …)": ([[_CLASS, "forward", "backward"]], _with_context),
    "a function and a class with apply(grad)": ([[_FUNCTION], [_CLASS, "apply"]], _applied),
    "two functions, (forward, backward) or (f, vjp)": ([[_FUNCTION], [_FUNCTION]], _of_two),
    "a function that returns (loss, gradients)": ([[_FUNCTION]], _of_a_loss),
}
"""The ways to write a forward and a backward: what each part has, which tells it from the others, and its Form."""
