"""`npbert fill-mask`, `embed`, `classify` and `answer`: a checkpoint and text in, JSON lines out."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from npbert.cli.text import STANDARD_INPUT, check_output, name_of, read_all, read_lines, write_array, write_json_lines
from npbert.files import FileError
from npbert.inference import POOLINGS, Answer, AnswerSpan, Classify, Embed, FillMask


def add_inference_commands(commands: Any) -> None:
    """Add the four commands to those of the parser."""
    fill_mask = _add(commands, "fill-mask", _fill_mask, "the most probable words for each [MASK], a line a text")
    fill_mask.add_argument("--top-k", type=int, default=5, metavar="K", help="how many words (5)")

    embed = _add(commands, "embed", _embed, "a vector for each line; --output ending in .npy makes an array")
    embed.add_argument("--pooling", choices=POOLINGS, default="mean", help="what makes one vector of many (mean)")
    embed.add_argument("--layer", type=int, default=-1, help="which hidden state, 0 to L, or from the end (-1)")
    embed.add_argument("--normalize", action="store_true", help="make every vector of length 1")

    _add(commands, "classify", _classify, "a label for each line; two texts in a line are separated by a tab")

    answer = _add(commands, "answer", _answer, "answers to questions about passages")
    answer.add_argument("--question", help="a question about the whole text of the file; without it, each line of the "
                        'file is a JSON object with "question" and "passage"')  # fmt: skip
    answer.add_argument("--n-best", type=int, default=1, metavar="N", help="how many answers (1)")


def _add(commands: Any, name: str, run: Any, help_text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=help_text, description=help_text)
    command.add_argument("folder", help="a checkpoint: config.json, model.safetensors, and tokenizer.json or vocab.txt")
    command.add_argument("input", nargs="?", default=STANDARD_INPUT, help="a file of text; standard input if not given")
    command.add_argument("--output", metavar="FILE", help="where to write; standard output if not given")
    command.set_defaults(run=lambda args: _run(run, args))
    return command


def _run(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    check_output(args.output)
    return run(args)


def _fill_mask(args: argparse.Namespace) -> int:
    texts = read_lines(args.input)
    predictions: Any = FillMask.from_pretrained(args.folder)(texts, top_k=args.top_k)
    rows = [
        {"text": text, "masks": [[token._asdict() for token in tokens] for tokens in masks]}
        for text, masks in zip(texts, predictions, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _embed(args: argparse.Namespace) -> int:
    if args.output and Path(args.output).suffix in (".npz", ".NPY", ".NPZ"):
        raise ValueError(f"--output is {args.output}, wanted a name ending in .npy for an array, or .jsonl")
    texts = read_lines(args.input)
    options = {"pooling": args.pooling, "layer": args.layer, "normalize": args.normalize}
    vectors = Embed.from_pretrained(args.folder, **options)(texts)
    if args.output and args.output.endswith(".npy"):
        write_array(vectors, args.output)
    else:
        rows = ({"text": text, "vector": vector.tolist()} for text, vector in zip(texts, vectors, strict=True))
        write_json_lines(rows, args.output)
    return 0


def _classify(args: argparse.Namespace) -> int:
    lines = read_lines(args.input)
    texts = [_pair(args.input, number, line) if "\t" in line else line for number, line in enumerate(lines, start=1)]
    results = Classify.from_pretrained(args.folder)(texts)
    rows = [
        {"text": text, **({"score": result} if isinstance(result, float) else result._asdict())}
        for text, result in zip(texts, results, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _pair(path: str, number: int, line: str) -> tuple[str, str]:
    parts = line.split("\t")
    if len(parts) != 2:
        raise FileError(
            f"{name_of(path)}, line {number}: {len(parts)} texts, wanted one, or two with a tab between them"
        )
    return parts[0], parts[1]


def _answer(args: argparse.Namespace) -> int:
    if args.question is not None:
        questions, passages = [args.question], [read_all(args.input)]
    else:
        questions, passages = _questions(args.input)
    answers = Answer.from_pretrained(args.folder).n_best(questions, passages, args.n_best)
    rows = [
        {"question": question, "answers": list(map(AnswerSpan._asdict, spans))}
        for question, spans in zip(questions, answers, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _questions(path: str) -> tuple[list[str], list[str]]:
    questions, passages = [], []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = json.loads(line)
            question, passage = row["question"], row["passage"]
            "".join([question, passage]).encode()  # two strings, and no half of a character
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(
                f'{name_of(path)}, line {number}: wanted a JSON object with the strings "question" and "passage", or '
                f"--question; got {line[:60]!r}"
            ) from error
        questions.append(question)
        passages.append(passage)
    return questions, passages
