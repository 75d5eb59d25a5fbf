"""named_parameters and named_parts: the parts of a layer, by their paths."""

from collections.abc import Iterator
from typing import Any

from npbert.core.parameter import Parameter


def named_parameters(owner: object) -> Iterator[tuple[str, Parameter]]:
    """Yield each Parameter of `owner` once, with its dotted name, in the order of definition.

    They are attributes of `owner` and of its layers (anything with a `forward` or `named_parameters`), alone or in a
    list, tuple or dict."""
    return ((name, part) for name, part in named_parts(owner) if isinstance(part, Parameter))


def named_parts(owner: object) -> Iterator[tuple[str, Any]]:
    """Yield the same with the layers, each before its parts. The first is `owner` itself, named ""."""
    return _walk("", owner, set())


def _walk(name: str, item: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    is_layer = (hasattr(item, "forward") or hasattr(item, "named_parameters")) and not isinstance(item, type)
    if id(item) in seen:
        return
    members = dict(enumerate(item)) if isinstance(item, list | tuple) else item
    if not name or is_layer or isinstance(item, Parameter):  # without a name, it is the owner
        seen.add(id(item))
        yield name, item
        members = getattr(item, "__dict__", members)
    for key, member in members.items() if isinstance(members, dict) else ():
        yield from _walk(f"{name}.{key}" if name else str(key), member, seen)
