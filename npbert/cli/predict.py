"""The commands that ask a finished model: `npbert fill-mask`, `classify`, `tag` and `answer`."""

import argparse
from collections.abc import Sequence

from npbert.cli.options import add_columns, columns_of, length_of, reads_files, run_settings
from npbert.cli.parser import COUNT, Parser, Run
from npbert.cli.text import name_of, read_all, read_lines, read_texts, write_json_lines
from npbert.data.conll import column_number, read_conll
from npbert.data.squad import Question, read_squad
from npbert.data.tables import TABLE_ENDINGS, json_rows, read_table
from npbert.data.tokenizer import Text
from npbert.inference import Answer, AnswerSpan, Classify, FillMask, Tag
from npbert.inference.classify import Label
from npbert.training.tasks import TaskSettings


def add_fill_mask_command(command: Parser) -> Run:
    """Find the most probable words for each [MASK]. The file has a text on each line;
    the answer to each is a line of JSON.

    examples:
      echo "Paris is the [MASK] of France." | npbert fill-mask folder
      npbert fill-mask folder sentences.txt --top-k 3 --output words.jsonl"""
    command.add_argument(
        "--top-k",
        type=COUNT,
        default=5,
        metavar="N",
        help="how many words to give for each [MASK] (default: 5)",
    )
    return reads_files(command, _fill_mask)


def _fill_mask(args: argparse.Namespace) -> int:
    texts = read_lines(args.input)
    predictions = FillMask.from_pretrained(args.folder)(texts, top_k=args.top_k)
    found = [[[token._asdict() for token in tokens] for tokens in masks] for masks in predictions]
    rows = ({"text": text, "masks": masks} for text, masks in zip(texts, found, strict=True))
    write_json_lines(rows, args.output)
    return 0


def add_classify_command(command: Parser) -> Run:
    """Find a label, or for a regression a number, for each text; the answer to each is a
    line of JSON. FOLDER is that of a checkpoint, or of a run of npbert finetune.

    The file has a text on each line, or two with a tab between them. A published file with
    columns (TSV, CSV or lines of JSON) is read when you say which columns to take; for a run
    they are those that it was trained on, and each answer then says which line it is about.

    examples:
      npbert classify run sentences.txt
      npbert classify run test.tsv --output labels.jsonl
      npbert classify folder test.csv --text sentence1 --text-pair sentence2"""
    add_columns(command, "text", "text_pair", "delimiter", "first_row")
    return reads_files(command, _classify)


def _classify(args: argparse.Namespace) -> int:
    run = run_settings(args.folder)
    columns = columns_of(args, run, TABLE_ENDINGS)
    places, texts = _lines(args.input) if columns is None else rows_of(args.input, columns)
    results: Sequence[Label | float] = Classify.from_pretrained(args.folder, **length_of(run))(texts)
    rows = [
        {**place, "text": text, **({"score": result} if isinstance(result, float) else result._asdict())}
        for place, text, result in zip(places, texts, results, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _lines(path: str) -> tuple[list[dict[str, int]], list[Text]]:
    """A text from each line, or a pair, and nothing to say of its place."""
    wanted = "one, or two with a tab between them; for a file with more columns, --text says which one to take"
    texts: list[Text] = [
        (parts[0], parts[1]) if len(parts) == 2 else parts[0] for parts in read_texts(path, f"texts, wanted {wanted}")
    ]
    return [{} for _ in texts], texts


def rows_of(path: str, settings: TaskSettings) -> tuple[list[dict[str, int]], list[Text]]:
    """A text, or two, from the columns of each row, and in which line it ends."""
    names = [settings.text, *([settings.text_pair] if settings.text_pair else [])]
    header, text = settings.first_row == "header", read_all(path)
    rows = read_table(name_of(path), names, delimiter=settings.delimiter, header=header, text=text)
    texts: list[Text] = [row.values[0] if len(names) == 1 else (row.values[0], row.values[1]) for row in rows]
    return [{"line": row.place.line} for row in rows], texts


def add_tag_command(command: Parser) -> Run:
    """Find a tag for each word of each text, and the names that the tags make (of people and
    places, say). FOLDER is that of a checkpoint, or of a run of npbert finetune --task tagging.

    The file has a text on each line, which is split into words at spaces and punctuation. A
    file with a word on each line (CoNLL) is read when its name ends in .conll, or when you say
    in which column the words are. The answer to each text is a line of JSON.

    examples:
      echo "Ada Lovelace was born in London." | npbert tag run
      npbert tag run sentences.txt --output tags.jsonl
      npbert tag folder test.conll --text 0"""
    command.add_argument("--words", action="store_true", help="split lines at spaces alone: they are words already")
    add_columns(command, "text")
    return reads_files(command, _tag)


def _tag(args: argparse.Namespace) -> int:
    run = run_settings(args.folder)
    columns = columns_of(args, run, (".conll",))
    places: list[dict[str, int]] = []
    texts: Sequence[str | list[str]]
    if columns is not None or args.input.endswith(".conll"):
        word_column = column_number("text", columns.text if columns else "0")
        text = read_all(args.input)
        sentences = read_conll(name_of(args.input), word_column=word_column, tag_column=None, text=text)
        places = [{"line": sentence.place.line} for sentence in sentences]
        texts = [sentence.words for sentence in sentences]
    else:
        lines = read_lines(args.input)
        places, texts = [{} for _ in lines], [line.split() for line in lines] if args.words else lines
    results = Tag.from_pretrained(args.folder, **length_of(run))(texts)
    rows = [
        {
            **place,
            "text": text if isinstance(text, str) else " ".join(text),
            "words": [word._asdict() for word in result.words],
            "entities": [entity._asdict() for entity in result.entities],
            **({"words_cut_off": result.cut} if result.cut else {}),
        }
        for place, text, result in zip(places, texts, results, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def add_answer_command(command: Parser) -> Run:
    """Find the part of a passage that answers a question; the answer to each is a line of JSON.
    FOLDER is that of a checkpoint, or of a run of npbert finetune --task squad.

    Each line of the file is a JSON object with "question" and "passage" (or "context"); with --question the
    whole file is one passage. A file whose name ends in .json is in the format of SQuAD.

    examples:
      npbert answer run chapter.txt --question "Who wrote it?"
      npbert answer run questions.jsonl --n-best 3
      npbert answer run dev-v1.1.json --output answers.jsonl"""
    command.add_argument("--question", metavar="TEXT", help="a question about the whole text of the file")
    command.add_argument("--n-best", type=COUNT, default=1, metavar="N", help="how many answers to give (default: 1)")
    return reads_files(command, _answer)


def _answer(args: argparse.Namespace) -> int:
    if args.question is not None:
        asked = [Question("", args.question, read_all(args.input), ())]
    elif args.input.endswith(".json"):
        asked = read_squad(args.input, answered=False)
    else:
        asked = _questions(args.input)
    answer = Answer.from_pretrained(args.folder, **length_of(run_settings(args.folder)))
    answers = answer.n_best([each.question for each in asked], [each.passage for each in asked], args.n_best)
    rows = [
        {**({"id": id_} if id_ else {}), "question": question, "answers": list(map(AnswerSpan._asdict, spans))}
        for (id_, question, *_), spans in zip(asked, answers, strict=True)
    ]
    write_json_lines(rows, args.output)
    return 0


def _questions(path: str) -> list[Question]:
    rows = json_rows(name_of(path), read_all(path), ("question", "passage,context"), hint="or give --question")
    return [Question("", question, passage, ()) for (question, passage), _ in rows]
