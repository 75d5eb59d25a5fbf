"""form_of: the Form of other people's functions. KINDS declares the ways to write them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from npbert.gradcheck.calls import form_of_functions, form_of_loss
from npbert.gradcheck.exact.arrays import Held, Numbers
from npbert.gradcheck.forms import Form, plain
from npbert.gradcheck.inputs import Function, as_list, asked, mapped, names_given


def form_of(parts: list[Any], inputs: list[Any], tensor: type | None) -> Form:
    """Return the Form of one or two functions: by the first of KINDS that fits.

    tensor: the type of the inputs, if they were tensors.

    Raises: TypeError if none fits."""
    for attributes, form in KINDS.values():
        if len(attributes) == len(parts) and all(map(hasattr, parts, attributes)):
            return form(*parts, inputs) if form is not _applied else form(*parts, inputs, tensor)
    kinds = ", ".join(getattr(part, "__name__", type(part).__name__) for part in parts)
    called = "" if all(map(callable, parts)) else "; pass the function itself, not its result"
    raise TypeError(f"({kinds}) is not a known form: {_HOW}{called}")


def _of_loss(f: Function, inputs: list[Any]) -> Form:
    """CS231n's losses: `loss, dx = f(x, …)`, in one call."""

    def loss(*arguments: Any) -> Any:
        y = f(*arguments)
        if not isinstance(y, tuple) or len(y) < 2 or np.size(plain(y[0])) != 1:
            raise TypeError(f"{getattr(f, '__name__', f)} alone gives no gradients: {_HOW}")
        return y

    return form_of_loss(lambda _: loss, names_given(f, len(inputs)), inputs)


def _with_context(owner: Any, inputs: list[Any]) -> Form:
    """PyTorch's and minitorch's: forward(ctx, …) and backward(ctx, d). PyTorch's get tensors."""
    torch: Any = sys.modules.get("torch")
    is_torch = torch is not None and issubclass(owner, torch.autograd.Function)
    setup = owner.setup_context if "setup_context" in vars(owner) else None

    def tensor(value: Any) -> Any:
        is_array = isinstance(value, np.ndarray | np.floating) and not isinstance(value, Numbers)
        return torch.from_numpy(np.array(value)) if is_torch and is_array else value

    def run(_: Any, arguments: list[Any]) -> tuple[Any, Any]:
        tensors, ctx = mapped(tensor, arguments), _Context(needs_input_grad=(True,) * len(inputs))
        y = owner.forward(*tensors) if setup else owner.forward(ctx, *tensors)
        if setup:
            setup(ctx, tensors, y)
        return y, ctx

    names = names_given(owner.forward, len(inputs), skip=0 if setup else 1)
    return Form(names, inputs, run, lambda dy, ctx: owner.backward(ctx, *as_list(mapped(tensor, dy))))


class _Context(SimpleNamespace):
    """The ctx of PyTorch and of minitorch, where forward keeps values for backward."""

    saved_tensors = saved_values = ()

    def save_for_backward(self, *values: Any) -> None:
        self.saved_tensors = self.saved_values = values

    def mark_dirty(self, *values: Any) -> None:
        pass

    mark_non_differentiable = set_materialize_grads = mark_dirty


def _applied(f: Function, owner: Any, inputs: list[Any], tensor: type | None) -> Form:
    """TinyTorch's: f, and a class with apply(grad), constructed from the inputs (and perhaps y). If its module has a
    Tensor, it gets Tensors, and so does f if the inputs are Tensors."""
    made_of = owner.apply.__globals__.get("Tensor", tensor)

    def held(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        made = made_of(np.zeros(value.shape)) if made_of else SimpleNamespace(shape=value.shape)
        made.data, made.requires_grad = value, True
        return made

    def run(_: Any, arguments: list[Any]) -> tuple[Any, Any]:
        tensors = list(map(held, arguments))
        y = f(*(tensors if tensor else arguments))
        takes_y = len(asked(owner)) == len(inputs) + 1
        return y, owner(*tensors, *map(held, as_list(y) if takes_y else []))

    def back(dy: Any, kept: Any) -> Any:
        return owner.apply(kept, dy.view(Held) if type(dy) is np.ndarray else dy)

    return Form(names_given(f, len(inputs)), inputs, run, back)


def _with_residuals(owner: Any, inputs: list[Any]) -> Form:
    """jax.custom_vjp: `y, residuals = fwd(…)` and bwd(residuals, dy)."""
    constant = [range(len(inputs))[position] for position in getattr(owner, "nondiff_argnums", ())]
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

    def run(_: Any, arguments: list[Any]) -> tuple[Any, Any]:
        with of_arrays():
            y, residuals = owner.fwd(*arguments)
        return y, (*(arguments[position] for position in constant), residuals)

    def back(dy: Any, kept: Any) -> Any:
        with of_arrays():
            return owner.bwd(*kept, dy)

    return Form(names_given(owner.fun, len(inputs)), inputs, run, back)


KINDS: dict[str, tuple[list[str], Callable[..., Form]]] = {
    "a jax.custom_vjp": (["bwd"], _with_residuals),
    "a class with forward(ctx, …) and backward(ctx, …)": (["backward"], _with_context),
    "a function and a class with apply(grad)": (["__call__", "apply"], _applied),
    "two functions, (forward, backward) or (f, vjp)": (["__call__", "__call__"], form_of_functions),
    "a function that returns (loss, gradients)": (["__call__"], _of_loss),
}
"""The ways to write a forward and a backward: an attribute of each part, which tells it from the others, and its
Form."""

_HOW = f"wanted a layer with forward and backward; a function of an autograd engine's values; {'; '.join(KINDS)}"
