"""The commands that use a trained model: `npbert fill-mask`, `classify`, `tag` and `answer`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from npbert.cli.command import Command, argument, switch
from npbert.cli.training import kind_of_run
from npbert.data.task_files import TABLE_ENDINGS, Question, json_rows, read_conll, read_squad, read_table
from npbert.inference import Answer, Classify, FillMask, Tag
from npbert.io import (
    JSON_LINES,
    STANDARD_INPUT,
    InputError,
    at_least,
    check_writable,
    read_all,
    read_lines,
    read_texts,
    setting,
    write_json_lines,
)
from npbert.training import SETTINGS_FILE, FinetuneSettings, TaskSettings, load_settings

_QUESTION = "question", "passage,context"
_WANTED = "texts, wanted one, or two with a tab between them; for a file with more columns, give --text"


COLUMNS = {"for a file with columns": "text text_pair delimiter first_row"}
"""The settings of a task for the columns of a table of texts."""

Row = tuple[dict[str, int], Any]
"""The place of a text, {"line": 3} in a table or {} with a text on each line, and the text, or two."""


class FilesCommand(Command):
    """A command that reads a checkpoint and text, and writes a line of JSON for each."""

    folder: str = argument(
        "FOLDER",
        "the folder of a run, or of a checkpoint, with its config.json, model.safetensors, and tokenizer.json or "
        "vocab.txt",
    )
    input: str = argument("FILE", "a file of text (default: standard input)", default=STANDARD_INPUT)
    output: str = setting("", "the file to write (default: standard output)", value="FILE")

    kind = TaskSettings
    endings: ClassVar[Sequence[str]] = JSON_LINES
    """The possible endings of the output's name."""

    def run(self) -> None:
        """Check the output, before the work, then write the results."""
        if self.output:
            path = Path(self.output)
            check_writable(path)
            wanted = ""
            if path.resolve() == Path(self.input).resolve():
                wanted = "another file than the input, which would be lost"
            elif path.suffix not in ("", *self.endings):
                wanted = f"a name that ends in one of {', '.join(self.endings)}"
            if wanted:
                raise InputError("output", self.output, wanted)
        self.write(self.rows())

    def write(self, rows: Iterable[Any]) -> None:
        """Write the results."""
        write_json_lines(rows, self.output)

    def rows(self) -> Iterable[Any]:
        """Read the model, as a wrong folder is an error before texts are read, and compute a result for each text."""
        raise NotImplementedError

    def columns(self, endings: tuple[str, ...]) -> TaskSettings | None:
        """Return the columns of the file: the options over those of the run in the folder. None for a text on each
        line: if no option names a column, and there is no run of npbert finetune or the file has none of `endings`."""
        if not self.given and not self.input.endswith(endings):
            return None
        folder = Path(self.folder)
        if kind_of_run(folder) is FinetuneSettings:
            return load_settings(FinetuneSettings, folder / SETTINGS_FILE, **self.given)
        return TaskSettings(**self.given) if self.given else None

    def read_columns(self, columns: TaskSettings) -> list[Row]:
        """Return the text, or two, of each row of the file, and the number of the line where it ends."""
        names = [name for name in (columns.text, columns.text_pair) if name]
        header = columns.first_row == "header"
        rows = read_table(self.input, names, delimiter=columns.delimiter, header=header)
        return [({"line": place.line}, values[0] if len(values) == 1 else values) for values, place in rows]


class FillMaskCommand(FilesCommand):
    """Find the most probable words for each [MASK]. The file has a text on each line; the result for each is a line of
    JSON.

    examples:
      echo "Paris is the [MASK] of France." | npbert fill-mask folder
      npbert fill-mask folder sentences.txt --top-k 3 --output words.jsonl"""

    top_k: int = setting(5, "the number of words for each [MASK]", wanted=at_least(1))

    def rows(self) -> Iterable[Any]:
        """The words."""
        fill_mask, texts = FillMask.from_pretrained(self.folder), read_lines(self.input)
        for text, masks in zip(texts, fill_mask(texts, top_k=self.top_k), strict=True):
            yield {"text": text, "masks": masks}


class ClassifyCommand(FilesCommand):
    """Predict a label, or for a regression a number, for each text. The result for each is a line of JSON.

    The file has a text on each line, or two with a tab between them. For a file with columns (TSV, CSV or lines of
    JSON), give the columns. A run reads the columns of its training file, and each result then has its line's number.

    examples:
      npbert classify run sentences.txt
      npbert classify run test.tsv --output labels.jsonl
      npbert classify folder test.csv --text sentence1 --text-pair sentence2"""

    shared = COLUMNS

    def rows(self) -> Iterable[Any]:
        """The labels."""
        classify = Classify.from_pretrained(self.folder)
        if columns := self.columns(TABLE_ENDINGS):
            rows = self.read_columns(columns)
        else:
            rows = [({}, tuple(parts) if parts[1:] else parts[0]) for parts in read_texts(self.input, _WANTED)]
        results = classify([text for _, text in rows])
        for (place, text), result in zip(rows, results, strict=True):
            label = {"score": result} if isinstance(result, float) else result._asdict()
            yield {**place, "text": text, **label}


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

    shared: ClassVar = {"for a file with columns": "text"}

    def rows(self) -> Iterable[Any]:
        """The tags."""
        tag, columns = Tag.from_pretrained(self.folder), self.columns((".conll",))
        rows: list[Row]
        if columns or self.input.endswith(".conll"):
            sentences = read_conll(self.input, columns.text if columns else "0", None)
            rows = [({"line": sentence.place.line}, sentence.words) for sentence in sentences]
        else:
            rows = [({}, line.split() if self.words else line) for line in read_lines(self.input)]
        for (place, text), result in zip(rows, tag([text for _, text in rows]), strict=True):
            whole = text if isinstance(text, str) else " ".join(text)
            row = {**place, "text": whole, "words": result.words, "entities": result.entities}
            yield {**row, "words_cut_off": result.cut} if result.cut else row


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
        answer = Answer.from_pretrained(self.folder)
        if self.question is not None:
            asked = [Question("", self.question, read_all(self.input), ())]
        elif self.input.endswith(".json"):
            asked = read_squad(self.input, answered=False)
        else:
            rows = json_rows(self.input, _QUESTION, hint="; or give --question")
            asked = [Question("", question, passage, ()) for (question, passage), _ in rows]
        answers = answer.n_best([each.question for each in asked], [each.passage for each in asked], self.n_best)
        for (id_, question, *_), spans in zip(asked, answers, strict=True):
            row = {"question": question, "answers": spans}
            yield {"id": id_, **row} if id_ else row
