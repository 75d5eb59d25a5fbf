"""The Forms of other people's functions, by the way they are called and their results."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from npbert.gradcheck.exact.arrays import Held, Numbers
from npbert.gradcheck.exact.number_modules import Variables
from npbert.gradcheck.forms import Form, each
from npbert.gradcheck.inputs import Function, asked
from npbert.gradcheck.paths import as_list


def vjp(f: Function, backward: Function, names: list[str]) -> Form:
    """`y = f(…)`, and backward(dy, …) with the same inputs; for several y, a tuple dy, or several dy."""

    def back(dy: Any, inputs: list[Any]) -> Any:
        is_each = isinstance(dy, tuple) and len(asked(backward)) == len(dy) + len(inputs)
        return backward(*(dy if is_each else [dy]), *inputs)

    return Form(names, lambda inputs: (f(*inputs), inputs), back)


def cached(f: Function, backward: Function, names: list[str], outs: int) -> Form:
    """CS231n's: `out, cache = f(…)` and backward(dout, cache), or several outputs with as many dout. Further arguments
    of backward are inputs of f by name."""
    more = asked(backward)[outs + 1 :]

    def run(inputs: list[Any]) -> tuple[Any, Any]:
        *y, cache = f(*inputs)
        again = {name: value for name, value in zip(names, inputs, strict=True) if name in more}
        return (y[0] if outs == 1 else tuple(y[:outs])), (cache, again)

    return Form(names, run, lambda dy, kept: backward(*as_list(dy), kept[0], **kept[1]))


def loss(f: Function, names: list[str]) -> Form:
    """CS231n's losses: `loss, dx = f(x, …)`, in one call."""

    def run(inputs: list[Any]) -> tuple[Any, Any]:
        loss, *found = f(*inputs)
        return loss, found[0] if len(found) == 1 else tuple(found)

    return Form(names, run, lambda dy, kept: each(lambda gradient: dy * gradient, kept))


def with_context(owner: Any, names: list[str]) -> Form:
    """PyTorch's and minitorch's: forward(ctx, …) and backward(ctx, d). PyTorch's get tensors."""
    torch: Any = sys.modules.get("torch")
    is_torch = torch is not None and issubclass(owner, torch.autograd.Function)
    setup = owner.setup_context if "setup_context" in vars(owner) else None

    def tensor(value: Any) -> Any:
        is_array = isinstance(value, np.ndarray | np.floating) and not isinstance(value, Numbers)
        return torch.from_numpy(np.array(value)) if is_torch and is_array else value

    def run(inputs: list[Any]) -> tuple[Any, Any]:
        given, ctx = each(tensor, inputs), _Context(needs_input_grad=(True,) * len(inputs))
        y = owner.forward(*given) if setup else owner.forward(ctx, *given)
        if setup:
            setup(ctx, given, y)
        return y, ctx

    return Form(names, run, lambda dy, ctx: owner.backward(ctx, *as_list(each(tensor, dy))))


class _Context(SimpleNamespace):
    """The ctx of PyTorch and of minitorch, where forward keeps values for backward."""

    saved_tensors = saved_values = ()

    def save_for_backward(self, *values: Any) -> None:
        self.saved_tensors = self.saved_values = values

    def mark_dirty(self, *values: Any) -> None:
        pass

    mark_non_differentiable = set_materialize_grads = mark_dirty


def applied(f: Function, owner: Any, names: list[str], given: Any) -> Form:
    """TinyTorch's: f, and a class with apply(grad), constructed from the inputs (and perhaps y). If its module has a
    Tensor, it gets Tensors, and so does f if the inputs are Tensors."""
    tensor = owner.apply.__globals__.get("Tensor", given)

    def held(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        made = tensor(np.zeros(value.shape)) if tensor else SimpleNamespace(shape=value.shape)
        made.data, made.requires_grad = value, True
        return made

    def run(inputs: list[Any]) -> tuple[Any, Any]:
        tensors = list(map(held, inputs))
        y = f(*(tensors if given else inputs))
        takes_y = len(asked(owner)) == len(inputs) + 1
        return y, owner(*tensors, *map(held, as_list(y) if takes_y else []))

    def back(dy: Any, kept: Any) -> Any:
        return owner.apply(kept, dy.view(Held) if type(dy) is np.ndarray else dy)

    return Form(names, run, back)


def residuals(owner: Any, names: list[str]) -> Form:
    """jax.custom_vjp: `y, residuals = fwd(…)` and bwd(residuals, dy)."""
    constant = [range(len(names))[position] for position in getattr(owner, "nondiff_argnums", ())]
    scopes = [owner.fwd.__globals__, Variables(owner.fwd)]
    called = [(scope, name) for scope in scopes for name, value in scope.items() if value is owner]

    @contextmanager
    def of_arrays() -> Iterator[None]:
        """Within it, JAX computes in 64 bits, and the owner's name in fwd is its function."""
        jax: Any = sys.modules.get("jax")
        try:
            for scope, name in called:
                scope[name] = owner.fun
            with jax.enable_x64(True) if hasattr(jax, "enable_x64") else nullcontext():
                yield
        finally:
            for scope, name in called:
                scope[name] = owner

    def run(inputs: list[Any]) -> tuple[Any, Any]:
        with of_arrays():
            y, residuals = owner.fwd(*inputs)
        return y, (*(inputs[position] for position in constant), residuals)

    def back(dy: Any, kept: Any) -> Any:
        with of_arrays():
            return owner.bwd(*kept, dy)

    return Form(names, run, back)
