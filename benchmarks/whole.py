"""Whole runs, from the start of a process to its end and from files to files: npbert beside its peers, turn by turn.

    python benchmarks/whole.py [RUN …] --data FOLDER [--checkpoint FOLDER] [--rounds 5] [--table]

A RUN is one of pretrain, finetune and embed; without one, all of them. npbert runs as its command line, its peers as
their users write it, and all of them save what they have made. The folders are as in speed.py; data has cola/*.tsv,
too. Each process leaves a line of JSON at the end of --output, and `--table` prints that file's last run of each.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import real_text
from finetune import TASKS
from report import Row, circumstances, last_runs, middle, show, spread_of_ratios
from rounds import add_options, alternate
from sides import SIDES
from speed import available
from task import Task
from workloads import sizes

from npbert.data.tokenizer import Tokenizer
from npbert.training.pretrain import Pretraining, PretrainSettings

LENGTH, BATCH_SIZE, MOST_TOKENS = 128, 32, 256


@dataclass(frozen=True)
class Run:
    """make: from the arguments and a folder to write into, what the sides are told, and the tokens that each works on.

    needs: the folders that must be given.
    """

    make: Callable[[argparse.Namespace, Path], tuple[dict[str, Any], dict[str, int]]]
    needs: tuple[str, ...] = ("data",)

    def save_task(self, name: str, args: argparse.Namespace, folder: Path) -> tuple[Task, dict[str, int]]:
        """The task that all sides get, and how many tokens each of them works on."""
        folder.mkdir()
        config, tokens = self.make(args, folder)
        task = Task(str(folder), name, config, args.checkpoint or "")
        task.save([])
        return task, tokens


def pretraining(args: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """BERT-mini learns hidden words from the books, with the vocabulary beside them.

    npbert ends a sequence where a sentence ends, or in it; its peer cuts the text into pieces of equal length.
    """
    real_text.vocabulary(args.data, folder).save_pretrained(folder)  # with a tokenizer.json, which its peer wants
    settings = {
        "corpus": [str(args.data / "gutenberg")],
        "document_per_file": True,
        "vocabulary": str(folder),
        "model": "bert-mini",
        "objective": "none",
        "max_length": LENGTH,
        "batch_size": BATCH_SIZE,
        "steps": args.steps,
        "evaluate_every": 0,
    }
    run = Pretraining(PretrainSettings(**settings), folder / "counted")
    batches = run.trainer.progress.batches(run.data)
    tokens = sum(int(next(batches).attention_mask.sum()) for _ in range(args.steps))
    config = {"settings": settings, "files": list(map(str, run.data.corpus.files)), "sizes": sizes("bert-mini")}
    return config, {"npbert": tokens, "transformers": args.steps * BATCH_SIZE * LENGTH}


def finetuning(args: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The checkpoint learns CoLA, an epoch of some of its sentences, and is judged by its development set."""
    settings = {**TASKS["cola"], "model": args.checkpoint, "epochs": 1, "evaluate_every": 0, "max_length": LENGTH}
    lines = (args.data / settings["train"]).read_text(encoding="utf-8").splitlines()
    chosen = np.random.default_rng(0).permutation(len(lines))[: args.examples]
    learned, judged = folder / "train.tsv", args.data / settings["held_out"]
    learned.write_text("".join(f"{lines[number]}\n" for number in chosen), encoding="utf-8")
    settings |= {"train": str(learned), "held_out": str(judged), "batch_size": BATCH_SIZE}
    rows = [line.split("\t") for file in (learned, judged) for line in file.read_text(encoding="utf-8").splitlines()]
    return {"settings": settings}, dict.fromkeys(SIDES["finetune"], count([row[3] for row in rows], args))


def embedding(args: argparse.Namespace, folder: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """A vector for each line of a file, of sentences from all over the books."""
    corpus, _ = real_text.books(args.data)
    sentences = [sentence for piece in corpus for sentence in piece]
    times = -(-args.lines // len(sentences))  # the books have fewer than 100,000
    chosen = np.random.default_rng(0).permutation(np.tile(np.arange(len(sentences)), times))[: args.lines]
    texts = [sentences[number] for number in chosen]
    (folder / "lines.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    config = {"lines": str(folder / "lines.txt"), "max_length": MOST_TOKENS}
    return config, dict.fromkeys(SIDES["embed"], count(texts, args))


def count(texts: list[str], args: argparse.Namespace) -> int:
    """How many tokens the texts have, as the checkpoint reads them."""
    encodings = Tokenizer.from_pretrained(args.checkpoint).encode(texts, max_length=MOST_TOKENS)
    return sum(len(encoding.ids) for encoding in encodings)


RUNS: dict[str, Run] = {
    "pretrain": Run(pretraining),
    "finetune": Run(finetuning, ("data", "checkpoint")),
    "embed": Run(embedding, ("data", "checkpoint")),
}


def table(rows: list[Row]) -> str:
    """A line for each run and side: wall and processor time, tokens, memory, and npbert's times beside the side's."""
    heading = ["run", "side", "time", "rounds", "processor", "tokens/s", "peak memory", "npbert's time / its"]
    lines = [f"| {' | '.join([*heading, 'processor time'])} |", "|---" * (len(heading) + 1) + "|"]
    for name, sides in last_runs(rows, RUNS).items():
        for side, runs in sides.items():
            times = [run["median"] for run in runs]
            ratio = partial(spread_of_ratios, sides.get("npbert", []), runs)
            has_ratio = side != "npbert" and "npbert" in sides
            cells = [
                name,
                side,
                show(middle(runs, "median")),
                f"{show(min(times))} – {show(max(times))}",
                show(middle(runs, "cpu")),
                f"{runs[0]['tokens'] / middle(runs, 'median'):,.0f}",
                f"{middle(runs, 'peak_mib'):,.0f} MiB",
                *((ratio("median"), ratio("cpu")) if has_ratio else ("", "")),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def measure(names: list[str], args: argparse.Namespace) -> None:
    """Run them, and write down their rows as they come."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            task, tokens = RUNS[name].save_task(name, args, Path(folder, name))
            sides = [side for side in SIDES[name] if side in args.sides and available(side)]
            how = {"rounds": args.rounds, "threads": args.threads, "patience": args.wait}
            for row in alternate(name, task, sides, **how):
                row["tokens"] = tokens[row["side"]]
                print(f"{name}, round {row['round'] + 1}: {row['side']:<24}{show(row['median'])}", flush=True)
                with args.output.open("a") as file:
                    file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="RUN", help=", ".join(RUNS))
    parser.add_argument("--steps", type=int, default=100, help="of pretrain (default: 100)")
    parser.add_argument("--examples", type=int, default=8551, help="of finetune (default: all, 8551)")
    parser.add_argument("--lines", type=int, default=100_000, help="of embed (default: 100000)")
    add_options(parser, SIDES["embed"], Path("whole.jsonl"))
    args = parser.parse_args()
    try:
        for name in args.runs:
            if name not in RUNS:
                raise ValueError(f"there is no run {name!r}, wanted {', '.join(RUNS)}")
        names = args.runs or ([] if args.table and args.data is None else list(RUNS))
        missing = {folder for name in names for folder in RUNS[name].needs if getattr(args, folder) is None}
        if missing:
            raise ValueError(f"{', '.join(names)}: wanted --{' and --'.join(sorted(missing))}")
        measure(names, args)
        if args.table:
            rows = [json.loads(line) for line in args.output.read_text().splitlines()]
            print(table(rows), circumstances(rows, RUNS), sep="\n\n")
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"whole.py: {error}")


if __name__ == "__main__":
    main()
