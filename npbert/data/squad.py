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
    seen: set[str] = set()
    for question in questions:
        where = f"{path}: question {question.id!r}"
        for text in (question.id, question.question, question.passage):
            if not isinstance(text, str) or not text.strip():
                raise FileError(f"{where} has {text!r}, wanted an id, a question and a context that are texts")
        if question.id in seen:
            raise FileError(f"{where} comes twice, wanted an id for each")
        seen.add(question.id)
        if answered:
            _check_answers(question, where)
    return questions


def _check_answers(question: Question, where: str) -> None:
    """Raise FileError for a question without an answer, or an answer that is not at its place."""
    if not question.answers:
        raise FileError(f"{where} has no answer, wanted version 1.1 of SQuAD, not 2.0")
    for text, start in question.answers:
        is_answer = isinstance(text, str) and type(start) is int and start >= 0 and text.strip()
        if not is_answer or question.passage[start : start + len(text)] != text:
            raise FileError(f"{where}: answer {text!r} is not at {start!r} in the passage")
