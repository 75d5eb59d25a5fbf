"""`npbert params`: every tensor of a size or of a checkpoint."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from npbert import models
from npbert.cli.parser import Parser, Run
from npbert.io.errors import InputError
from npbert.io.files import model_folder, read_json_object
from npbert.io.messages import LOGGER
from npbert.models.hugging_face.config import CONFIG_FILE


def add_params_command(command: Parser) -> Run:
    """List every tensor of a model with its shape, and count its parameters.

    examples:
      npbert params bert-tiny
      npbert params run --json"""
    command.epilog = f"sizes:\n{models.size_table()}\n\n{command.epilog}"
    command.add_argument(
        "model", metavar="MODEL", type=_known, help="one of the sizes below, or the folder of a checkpoint or of a run"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object: config, parameters and total")
    return _params


def _known(name: str) -> str:
    if name not in models.PRESETS and not Path(name).is_dir():
        raise InputError(models.neither_size_nor_folder(name))
    return name


def _params(args: argparse.Namespace) -> int:
    folder = model_folder(args.model)
    config = models.BertConfig.preset(args.model) if args.model in models.PRESETS else models.load_config(folder)
    model_class: Any = models.BertModel if args.model in models.PRESETS else _class_of(folder)
    model = model_class(config, rng=None)
    if not args.json:
        print(models.parameter_table(model))
        return 0
    rows = models.parameter_rows(model)
    listed = {"model": model_class.__name__, "config": asdict(config), "parameters": [row._asdict() for row in rows]}
    print(json.dumps({**listed, "total": sum(row.count for row in rows)}, indent=2, ensure_ascii=False))
    return 0


def _class_of(folder: Path) -> type[models.PreTrainedModel]:
    """The class of the model in the folder, as its config.json names it; BertModel where it is none of npbert's."""
    named = read_json_object(folder / CONFIG_FILE).get("architectures")
    for name in named if isinstance(named, list) else []:
        found = getattr(models, name, None) if name in models.__all__ else None
        if isinstance(found, type) and issubclass(found, models.PreTrainedModel):
            return found
    LOGGER.info("%s names no head that npbert knows, so this is its BertModel alone", folder / CONFIG_FILE)
    return models.BertModel
