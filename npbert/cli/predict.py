"""The commands that use a trained model: `npbert fill-mask`, `classify`, `tag` and `answer`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from npbert.cli.command import switch
from npbert.cli.options import COLUMNS, FilesCommand
from npbert.cli.text import name_of, read_all, read_lines, read_texts
from npbert.data.conll import column_number, read_conll
from npbert.data.squad import Question, read_squad
from npbert.data.tables import TABLE_ENDINGS, json_rows, read_table
from npbert.inference import Answer, AnswerSpan, Classify, FillMask, Tag
from npbert.inference.classify import Label
from npbert.io.errors import at_least
from npbert.io.settings import setting
from npbert.training.tasks import TaskSettings

_QUESTION = "question", "passage,context"
_ONE_OR_TWO = "one, or two with a tab between them; for a file with more columns, give --text"
Places = list[dict[str, int]]
"""The place of each text, or nothing."""


@dataclass
class FillMaskCommand(FilesCommand):
    """Find the most probable words for each [MASK]. The file has a text on each line; the result for each is a line of
    JSON.

    examples:
      echo "Paris is the [MASK] of France." | npbert fill-mask folder
      npbert fill-mask folder sentences.txt --top-k 3 --output words.jsonl"""

    top_k: int = setting(5, "the number of words for each [MASK]", wanted=at_least(1))

    def rows(self) -> Iterable[Any]:
        """The words."""
        texts = read_lines(self.input)
        predictions = FillMask.from_pretrained(self.folder)(texts, top_k=self.top_k)
        found = [[[token._asdict() for token in tokens] for tokens in masks] for masks in predictions]
        return ({"text": text, "masks": masks} for text, masks in zip(texts, found, strict=True))


@dataclass
class ClassifyCommand(FilesCommand):
    """Predict a label, or for a regression a number, for each text. The result for each is a line of JSON.

    The file has a text on each line, or two with a tab between them. For a file with columns (TSV, CSV or lines of
    JSON), give the columns. A run reads the columns of its training file, and each result then has its line's number.

    examples:
      npbert classify run sentences.txt
      npbert classify run test.tsv --output labels.jsonl
      npbert classify folder test.csv --text sentence1 --text-pair sentence2"""

    columns: ClassVar = COLUMNS

    def rows(self) -> Iterable[Any]:
        """The labels."""
        run = self.run_settings()
        columns = self.columns_of(run, TABLE_ENDINGS)
        if columns is not None:
            places, texts = rows_of(self.input, columns)
        else:
            lines = read_texts(self.input, f"texts, wanted {_ONE_OR_TWO}")
            places, texts = [{} for _ in lines], [tuple(parts) if len(parts) == 2 else parts[0] for parts in lines]
        results: Sequence[Label | float] = self.use(Classify, run)(texts)
        return [
            {**place, "text": text, **({"score": result} if isinstance(result, float) else result._asdict())}
            for place, text, result in zip(places, texts, results, strict=True)
        ]


def rows_of(path: str, settings: TaskSettings) -> tuple[Places, list[Any]]:
    """Return a text, or two, from the columns of each row, and the line where it ends."""
    names = [settings.text, *([settings.text_pair] if settings.text_pair else [])]
    header, text = settings.first_row == "header", read_all(path)
    rows = read_table(name_of(path), names, delimiter=settings.delimiter, header=header, text=text)
    texts = [tuple(row.values) if len(names) == 2 else row.values[0] for row in rows]
    return [{"line": row.place.line} for row in rows], texts


@dataclass
class TagCommand(FilesCommand):
    """Predict a tag for each word, and the names that the tags make, such as people and places. The result for each
    text is a line of JSON.

    The file has a text on each line, which is split into words at spaces and punctuation. A file with a word on each
    line (CoNLL) needs a name that ends in .conll, or the column of the words.

    examples:
      echo "Ada Lovelace was born in London." | npbert tag run
      npbert tag run sentences.txt --output tags.jsonl
      npbert tag folder test.conll --text 0"""

    words: bool = switch("split lines only at spaces, if they are words already")

    columns: ClassVar = ("text",)

    def rows(self) -> Iterable[Any]:
        """The tags."""
        run = self.run_settings()
        places, texts = self._texts(self.columns_of(run, (".conll",)))
        results = self.use(Tag, run)(texts)
        return [
            {
                **place,
                "text": text if isinstance(text, str) else " ".join(text),
                "words": [word._asdict() for word in result.words],
                "entities": [entity._asdict() for entity in result.entities],
                **({"words_cut_off": result.cut} if result.cut else {}),
            }
            for place, text, result in zip(places, texts, results, strict=True)
        ]

    def _texts(self, columns: TaskSettings | None) -> tuple[Places, Sequence[str | list[str]]]:
        if columns is None and not self.input.endswith(".conll"):
            lines = read_lines(self.input)
            return [{} for _ in lines], [line.split() for line in lines] if self.words else lines
        word_column = column_number("text", columns.text if columns else "0")
        text = read_all(self.input)
        sentences = read_conll(name_of(self.input), word_column=word_column, tag_column=None, text=text)
        return [{"line": each.place.line} for each in sentences], [each.words for each in sentences]


@dataclass
class AnswerCommand(FilesCommand):
    """Find the part of a passage that answers a question. The result for each is a line of JSON.

    Each line of the file is a JSON object with "question" and "passage" (or "context"). With --question, the whole file
    is one passage. A file that ends in .json is in SQuAD's format.

    examples:
      npbert answer run chapter.txt --question "Who wrote it?"
      npbert answer run questions.jsonl --n-best 3
      npbert answer run dev-v1.1.json --output answers.jsonl"""

    question: str | None = setting(None, "a question about the whole file as one passage", value="TEXT")
    n_best: int = setting(1, "the number of answers to each question", wanted=at_least(1))

    def rows(self) -> Iterable[Any]:
        """The answers."""
        asked = self._asked()
        answer = self.use(Answer, self.run_settings())
        answers = answer.n_best([each.question for each in asked], [each.passage for each in asked], self.n_best)
        return [
            {**({"id": id_} if id_ else {}), "question": question, "answers": list(map(AnswerSpan._asdict, spans))}
            for (id_, question, *_), spans in zip(asked, answers, strict=True)
        ]

    def _asked(self) -> list[Question]:
        if self.question is not None:
            return [Question("", self.question, read_all(self.input), ())]
        if self.input.endswith(".json"):
            return read_squad(self.input, answered=False)
        rows = json_rows(name_of(self.input), read_all(self.input), _QUESTION, hint="or give --question")
        return [Question("", question, passage, ()) for (question, passage), _ in rows]
