"""form_of: the Form of other people's functions, by the way they are called and their results."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from npbert.gradcheck.exact.arrays import Held, Numbers
from npbert.gradcheck.exact.number_modules import Variables
from npbert.gradcheck.forms import Form, each, is_tensor, own, plain
from npbert.gradcheck.forward import told
from npbert.gradcheck.inputs import Function, asked, names_given
from npbert.gradcheck.paths import as_list

Methods = tuple[Function, Function]
"""run(inputs) and back(dy, kept), as of a Form."""

_HOW = (
    "wanted a layer with forward and backward; two functions, (forward, backward) or (f, vjp); a class with "
    "forward(ctx, …) and backward(ctx, …); a function and a class with apply(grad); a jax.custom_vjp; a function of an "
    "autograd engine's values; or a function that returns (loss, gradients)"
)
_NUMBERS = np.ndarray, np.generic, float, int, complex, type(None)


def form_of(parts: list[Any], inputs: list[Any], tensor: type | None) -> Form:
    """Return the Form of one or two functions. tensor: the type of the inputs, if they are tensors.

    Raises: TypeError for an unknown form."""
    first, last, count = parts[0], parts[-1], len(inputs)
    if len(parts) == 1 and hasattr(first, "fwd") and hasattr(first, "bwd"):
        return Form(names_given(first.fun, count), *_residuals(first, count))
    if len(parts) == 1 and isinstance(first, type) and hasattr(first, "forward") and hasattr(first, "backward"):
        has_ctx = "setup_context" not in vars(first)
        return Form(names_given(first.forward, count, skip=has_ctx), *_with_context(first))
    names = names_given(first, count)
    if len(parts) == 2 and callable(first) and isinstance(last, type) and hasattr(last, "apply"):
        return Form(names, *_applied(first, last, tensor))
    if not all(map(callable, parts)) or len(parts) > 2:
        kinds = ", ".join(getattr(part, "__name__", type(part).__name__) for part in parts)
        called = "" if all(map(callable, parts)) else "; pass the function itself, not its result"
        raise TypeError(f"({kinds}) is not a known form: {_HOW}{called}")
    form = Form(names, *_vjp(first, last))
    with told("forward"):
        y, _ = form.ran(list(map(own, inputs)))
    if len(parts) == 2:
        return _form_of_two(first, last, names, y) or form
    if not isinstance(y, tuple) or len(y) < 2 or np.size(plain(y[0])) != 1:
        raise TypeError(f"{getattr(first, '__name__', first)} alone gives no gradients: {_HOW}")
    return Form(names, *_loss(first))


def _form_of_two(f: Function, backward: Function, names: list[str], y: Any) -> Form | None:
    """Return the Form of two functions if f also returns a cache: backward takes a dy for each output, the cache, and
    inputs by name. None: it takes dy and the inputs."""
    wanted = asked(backward)
    if isinstance(y, tuple) and len(y) > 1:
        outs = sum(name not in names for name in asked(backward, required=True)[1:])
        if len(wanted) == len(y):
            outs = len(y) - 1
        if len(wanted) == len(y) or (wanted[-len(names) :] != names and 0 < outs < len(y)):
            return Form(names, *_cached(f, backward, names, outs))
    outputs = as_list(y)
    if not all(isinstance(part, _NUMBERS) or is_tensor(part) for part in outputs):
        kinds = ", ".join(type(each).__name__ for each in outputs)
        raise TypeError(
            f"{getattr(f, '__name__', f)} returns ({kinds}), wanted an array, or a tuple of them; or (out, "
            "cache), with a backward that names what it is given: backward(dout, cache), and not backward(*args)"
        )
    return None


def _vjp(f: Function, backward: Function) -> Methods:
    """`y = f(…)`, and backward(dy, …) with the same inputs; for several y, a tuple dy, or several dy."""

    def back(dy: Any, inputs: list[Any]) -> Any:
        is_each = isinstance(dy, tuple) and len(asked(backward)) == len(dy) + len(inputs)
        return backward(*(dy if is_each else [dy]), *inputs)

    return (lambda inputs: (f(*inputs), inputs)), back


def _cached(f: Function, backward: Function, names: list[str], outs: int) -> Methods:
    """CS231n's: `out, cache = f(…)` and backward(dout, cache), or several outputs with as many dout. Further arguments
    of backward are inputs of f by name."""
    more = asked(backward)[outs + 1 :]

    def run(inputs: list[Any]) -> tuple[Any, Any]:
        *y, cache = f(*inputs)
        again = {name: value for name, value in zip(names, inputs, strict=True) if name in more}
        return (y[0] if outs == 1 else tuple(y[:outs])), (cache, again)

    return run, lambda dy, kept: backward(*as_list(dy), kept[0], **kept[1])


def _loss(f: Function) -> Methods:
    """CS231n's losses: `loss, dx = f(x, …)`, in one call."""

    def run(inputs: list[Any]) -> tuple[Any, Any]:
        loss, *found = f(*inputs)
        return loss, found[0] if len(found) == 1 else tuple(found)

    return run, lambda dy, kept: each(lambda gradient: dy * gradient, kept)


def _with_context(owner: Any) -> Methods:
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

    return run, lambda dy, ctx: owner.backward(ctx, *as_list(each(tensor, dy)))


class _Context(SimpleNamespace):
    """The ctx of PyTorch and of minitorch, where forward keeps values for backward."""

    saved_tensors = saved_values = ()

    def save_for_backward(self, *values: Any) -> None:
        self.saved_tensors = self.saved_values = values

    def mark_dirty(self, *values: Any) -> None:
        pass

    mark_non_differentiable = set_materialize_grads = mark_dirty


def _applied(f: Function, owner: Any, given: Any) -> Methods:
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

    return run, back


def _residuals(owner: Any, count: int) -> Methods:
    """jax.custom_vjp: `y, residuals = fwd(…)` and bwd(residuals, dy)."""
    constant = [range(count)[position] for position in getattr(owner, "nondiff_argnums", ())]
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

    return run, back
