"""What a layer is made of: the walk over its parameters and the layers in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npbert.core.parameter import Parameter


def named_parameters(owner: object) -> Iterator[tuple[str, Parameter]]:
    """Each Parameter of `owner` with its dotted name, in the order of definition, once even when it is shared.

    `owner` is any object: its attributes are walked, and those of the layers (anything with a `forward`) that it holds,
    alone or in a list, tuple or dict.
    """
    return ((name, part) for name, part in named_parts(owner) if isinstance(part, Parameter))


def named_parts(owner: object) -> Iterator[tuple[str, Any]]:
    """As named_parameters, with the layers too, each before its own parts. The first is `owner` itself, named ""."""
    return _walk("", owner, set(), is_owner=True)


def _walk(name: str, item: Any, seen: set[int], *, is_owner: bool = False) -> Iterator[tuple[str, Any]]:
    if is_owner or is_part(item):
        if id(item) in seen:
            return
        seen.add(id(item))
        yield name, item
    for key, part in parts_of(item, is_owner=is_owner).items():
        yield from _walk(dotted(name, key), part, seen)


def is_part(item: object) -> bool:
    """Whether it is a Parameter or a layer."""
    is_layer = hasattr(item, "forward") or hasattr(item, "named_parameters")
    return isinstance(item, Parameter) or (is_layer and not isinstance(item, type))


def parts_of(item: Any, *, is_owner: bool = False) -> dict[Any, Any]:
    """By name, what may be or hold a part: what is in a list, tuple or dict, or the attributes of a layer or owner."""
    if isinstance(item, list | tuple):
        return dict(enumerate(item))
    if isinstance(item, dict):
        return item
    return vars(item) if (is_owner or is_part(item)) and not isinstance(item, Parameter) else {}


def dotted(owner: str, name: object) -> str:
    """The name of a part of `owner`."""
    return f"{owner}.{name}" if owner else str(name)
