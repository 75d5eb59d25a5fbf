"""`npbert answer`: answers to questions about passages."""

from __future__ import annotations

import argparse
import json
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.text import name_of, read_all, read_lines, write_json_lines
from npbert.files import FileError
from npbert.inference import Answer, AnswerSpan


def add_answer_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = add_command(commands, "answer", _answer, "answers to questions about passages")
    command.add_argument("--question", help="a question about the whole text of the file; without it, each line of the "
                         'file is a JSON object with "question" and "passage"')  # fmt: skip
    command.add_argument("--n-best", type=int, default=1, metavar="N", help="how many answers (1)")


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
