"""SQuAD's JSON: questions about passages, with the places of the answers."""

from pathlib import Path
from typing import NamedTuple

from npbert.io.files import LARGEST_STREAM, FileError, read_json_object


class GoldAnswer(NamedTuple):
    """An answer by a person: passage[start : start + len(text)] is its text."""

    text: str
    start: int


class Question(NamedTuple):
    """A question about a passage, and its right answers."""

    id: str
    question: str
    passage: str
    answers: tuple[GoldAnswer, ...]


def read_squad(path: str | Path, *, answered: bool = True) -> list[Question]:
    """Return the questions of a file in SQuAD's format. (Rajpurkar et al. 2016, version 1.1.)

    answered: False for questions without answers; any answers are ignored.

    Raises: FileError with the file and the question for another format, a question without an answer, or an answer that
    is not at its place; OSError.
    """
    path = Path(path)
    stored = read_json_object(path, most=LARGEST_STREAM)
    try:
        questions = [
            Question(
                row["id"],
                row["question"],
                paragraph["context"],
                tuple(GoldAnswer(answer["text"], answer["answer_start"]) for answer in row["answers"])
                if answered
                else (),
            )
            for article in stored["data"]
            for paragraph in article["paragraphs"]
            for row in paragraph["qas"]
        ]
    except (KeyError, TypeError) as error:
        raise FileError(f"{path} is not in SQuAD's format: {error!r}") from error
    if not questions:
        raise FileError(f"{path} is empty, wanted questions")
    _check_texts(questions, path)
    for question in questions if answered else []:
        if not question.answers:
            raise FileError(f"{path}: question {question.id} has no answer, wanted version 1.1 of SQuAD, not 2.0")
        for text, start in question.answers:
            if not isinstance(text, str) or not isinstance(start, int) or isinstance(start, bool):
                raise FileError(f"{path}: question {question.id}: answer {text!r} at {start!r}, wanted text and place")
            if not text.strip() or start < 0 or question.passage[start : start + len(text)] != text:
                raise FileError(f"{path}: question {question.id}: answer {text!r} is not at {start} in the passage")
    return questions


def _check_texts(questions: list[Question], path: Path) -> None:
    """Raise FileError for an id that occurs twice, and for a question or passage that is empty or not text."""
    seen: set[str] = set()
    for question in questions:
        if not isinstance(question.id, str) or question.id in seen:
            what = "comes twice" if isinstance(question.id, str) else "is not text"
            raise FileError(f"{path}: the id {question.id!r} of a question {what}")
        seen.add(question.id)
        for name, text in (("question", question.question), ("context", question.passage)):
            if not isinstance(text, str):
                raise FileError(f"{path}: question {question.id}: its {name} is {text!r}, wanted a text")
            if not text.strip():
                raise FileError(f"{path}: question {question.id}: its {name} is empty, wanted a text")
