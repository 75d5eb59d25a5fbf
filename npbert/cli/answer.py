"""`npbert answer`: answers to questions about passages."""

from __future__ import annotations

import argparse
import json
from typing import Any

from npbert.cli.checkpoint_command import add_command
from npbert.cli.task_folder import length_of, model_folder, run_settings
from npbert.cli.text import name_of, read_all, read_lines, write_json_lines
from npbert.data.squad import Question, read_squad
from npbert.files import FileError
from npbert.inference import Answer, AnswerSpan

_DESCRIPTION = """Find the part of a passage that answers a question; the answer to each is a line of JSON.
FOLDER is that of a checkpoint, or of a run of npbert finetune --task squad.

Each line of the file is a JSON object with "question" and "passage"; with --question the
whole file is one passage. A file whose name ends in .json is in the format of SQuAD."""

_EPILOG = """examples:
  npbert answer run chapter.txt --question "Who wrote it?"
  npbert answer run questions.jsonl --n-best 3
  npbert answer run dev-v1.1.json --output answers.jsonl"""


def add_answer_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = add_command(
        commands, "answer", _answer, "find answers in passages", description=_DESCRIPTION, epilog=_EPILOG
    )
    command.add_argument("--question", metavar="TEXT", help="a question about the whole text of the file")
    command.add_argument("--n-best", type=int, default=1, metavar="N", help="how many answers to give (default: 1)")


def _answer(args: argparse.Namespace) -> int:
    if args.question is not None:
        asked = [Question("", args.question, read_all(args.input), ())]
    elif args.input.endswith(".json"):
        asked = read_squad(args.input, answered=False)
    else:
        asked = _questions(args.input)
    run = run_settings(args.folder)
    answer = Answer.from_pretrained(model_folder(args.folder), **length_of(run))
    answers = answer.n_best([each.question for each in asked], [each.passage for each in asked], args.n_best)
    rows = [
        {**({"id": id_} if id_ else {}), "question": question, "answers": list(map(AnswerSpan._asdict, spans))}
        for (id_, question, *_), spans in zip(asked, answers, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _questions(path: str) -> list[Question]:
    questions = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = json.loads(line)
            question, passage = row["question"], row["passage"]
            "".join([question, passage]).encode()  # two strings, and no half of a character
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileError(
                f'{name_of(path)}, line {number}: wanted a JSON object with the strings "question" and "passage", or '
                f"--question; got {line[:60]!r}"
            ) from error
        questions.append(Question("", question, passage, ()))
    return questions
