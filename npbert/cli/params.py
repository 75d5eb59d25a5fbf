"""`npbert params`: lists every tensor of a size or a checkpoint."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import Any

from npbert import models
from npbert.cli.command import Command, UsageError, argument, switch
from npbert.io import LOGGER, model_folder, read_json_object
from npbert.models.config import CONFIG_FILE


class ParamsCommand(Command):
    __doc__ = f"""List every tensor of a model with its shape, and count its parameters.

    sizes:
{indent(models.size_table(), "    ")}

    examples:
      npbert params bert-tiny
      npbert params run --json"""

    model: str = argument("MODEL", "a size from the table below, or the folder of a checkpoint or run")
    json: bool = switch("print one JSON object: config, parameters and total")

    def run(self) -> None:
        """Print the table."""
        if self.model in models.PRESETS:
            model = models.BertModel(models.BertConfig.preset(self.model), rng=None)
        elif Path(self.model).is_dir():
            folder = model_folder(self.model)
            model = _class_of(folder)(models.load_config(folder), rng=None)
        else:
            raise UsageError(models.neither_size_nor_folder(self.model))
        if not self.json:
            print(models.parameter_table(model))
            return
        found = {
            "model": type(model).__name__,
            "config": asdict(model.config),
            "parameters": [
                {"name": name, "shape": each.value.shape, "count": each.value.size}
                for name, each in model.named_parameters()
            ],
            "total": model.num_parameters(),
        }
        print(json.dumps(found, indent=2, ensure_ascii=False))


def _class_of(folder: Path) -> Any:
    """Return the class of the model in the folder, by its config.json; BertModel if npbert does not have it."""
    named = read_json_object(folder / CONFIG_FILE).get("architectures")
    for name in named if isinstance(named, list) else []:
        found = getattr(models, str(name), None)
        if isinstance(found, type) and issubclass(found, models.PreTrainedModel):
            return found
    LOGGER.info("npbert does not have the head in %s: this is the BertModel without it", folder / CONFIG_FILE)
    return models.BertModel
