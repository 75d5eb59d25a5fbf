"""The parameters of a model by layer, for whoever wants a number a layer and not one a parameter."""

from __future__ import annotations

import re
from typing import Any

from npbert.core import Parameter, named_parameters


def layers_of(model: Any) -> dict[str, list[Parameter]]:
    """The parameters of a model by layer, from the input on: embeddings, layer 1, layer 2 …, pooler, and the heads.

    Of the name of a parameter, that is all up to the first number, or else the first word: "layer 3" is what
    `bert.encoder.layers.2` is called.
    """
    layers: dict[str, list[Parameter]] = {}
    for name, parameter in named_parameters(model):
        found = re.match(r"(?:bert\.)?(?:encoder\.layers\.(\d+)\.|(.*?\d+)\.|(\w+))", name)
        assert found, "every parameter has a name"
        layer = f"layer {int(found[1]) + 1}" if found[1] else found[2] or found[3]
        layers.setdefault(layer.replace("_", " "), []).append(parameter)
    return layers
