"""named_parts: what a layer is made of, by its paths."""

from collections.abc import Iterator
from typing import Any

from npbert.core.parameter import Parameter


def named_parameters(owner: object) -> Iterator[tuple[str, Parameter]]:
    """Each Parameter of `owner` with its dotted name, in the order of definition, once even when it is shared: of its
    attributes, and of the layers (anything with a `forward`) that it holds, alone or in a list, tuple or dict."""
    return ((name, part) for name, part in named_parts(owner) if isinstance(part, Parameter))


def named_parts(owner: object) -> Iterator[tuple[str, Any]]:
    """As named_parameters, with the layers, each before its own parts. The first is `owner` itself, named ""."""
    return _walk("", owner, set(), is_part=True)


def _walk(name: str, item: Any, seen: set[int], *, is_part: bool = False) -> Iterator[tuple[str, Any]]:
    is_layer = (hasattr(item, "forward") or hasattr(item, "named_parameters")) and not isinstance(item, type)
    if id(item) in seen:
        return
    members = dict(enumerate(item)) if isinstance(item, list | tuple) else item
    if is_part or is_layer or isinstance(item, Parameter):
        seen.add(id(item))
        yield name, item
        members = getattr(item, "__dict__", members)
    for key, member in members.items() if isinstance(members, dict) else ():
        yield from _walk(f"{name}.{key}" if name else str(key), member, seen)
