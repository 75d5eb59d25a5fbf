"""The parts of a BERT. `npbert params` lists every tensor of a size or a checkpoint; `npbert gradcheck` proves every
derivative of every block."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from npbert import models
from npbert.catalogue import blocks
from npbert.cli.command import Command, UsageError, argument, switch
from npbert.gradcheck import COMPLEX_STEP, FINITE_DIFFERENCES, TOLERANCES, check_gradients
from npbert.io import LOGGER, at_least, one_of, setting
from npbert.shapes import AWKWARD, Shapes


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
            config = models.load_config(self.model)
            model = self._class_of(config)(config, rng=None)
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

    def _class_of(self, config: models.BertConfig) -> Any:
        """Return the class of the model, by its config.json; BertModel if npbert does not have it."""
        named = config.architecture.file.get("architectures")
        for name in named if isinstance(named, list) else []:
            found = getattr(models, str(name), None)
            if isinstance(found, type) and issubclass(found, models.PreTrainedModel):
                return found
        LOGGER.info("npbert does not have the head in %s: this is the BertModel without it", self.model)
        return models.BertModel


class GradcheckCommand(Command):
    """Prove every derivative of every block in exact integer arithmetic: forward and backward run once on exact
    numbers, and two integers must be equal. Two estimates in floats cross-check it: finite differences and the complex
    step, along random directions.

    columns:
      derivatives  the number that backward returns, of inputs and parameters
      proof took   the time of the proof; "no" if it was not proved
      the others   the largest relative error of each estimate, below its limit

    examples:
      npbert gradcheck
      npbert gradcheck LayerNorm --seeds 20"""

    block: str | None = argument("BLOCK", "the block to check (default: all)", default=None)
    seeds: int = setting(1, "also check N - 1 random shapes, after the usual ones", wanted=at_least(1))

    def run(self) -> int:
        """Print a line for each block. Returns 0 if all derivatives are right, else 1."""
        reports = [report for seed in range(self.seeds) for report in self._check(seed)]
        total, proved = sum(report.count for report in reports), sum(bool(report.proof) for report in reports)
        is_right = all(report.ok for report in reports)
        print(f"{'PASS' if is_right else 'FAIL'}: {total:,} derivatives, proved in {proved} of {len(reports)} blocks.")
        print("Shown: the largest relative errors of the cross-checks.")
        return int(not is_right)

    def _check(self, seed: int) -> Iterator[Any]:
        """Check the block of that name with its variants (LayerNorm, or "FeedForward, gelu"), or all blocks, and print
        a line for each. Yields: the reports. Raises: InputError for an unknown name."""
        shapes = Shapes.drawn(np.random.default_rng(seed)) if seed else AWKWARD
        known = blocks(shapes)
        chosen = [name for name in known if self.block is None or f"{name},".startswith(f"{self.block},")]
        if not chosen:
            one_of(known).check("block", self.block)
        print(f"{shapes}\n")
        print(f"{'block':<42}{'derivatives':>11}{'proof took':>12}{FINITE_DIFFERENCES:>20}{COMPLEX_STEP:>14}")
        print(f"{'(accepted)':<65}{TOLERANCES[FINITE_DIFFERENCES]:>20.0e}{TOLERANCES[COMPLEX_STEP]:>14.0e}")
        for name in chosen:
            layer, inputs, rng = known[name].make(seed=seed)
            report = check_gradients(layer, *inputs, rng=rng, seed=seed)
            worst = [report.worst.get(method) for method in (FINITE_DIFFERENCES, COMPLEX_STEP)]
            errors = [f"{each.relative_error:.1e}" if each else "–" for each in worst]
            proof = f"{1e3 * report.proof.seconds:.0f} ms" if report.proof else "no"
            print(f"{name:<42}{report.count:>11}{proof:>12}{errors[0]:>20}{errors[1]:>14}", flush=True)
            if not report.ok:
                print(report)
            yield report
        print()
