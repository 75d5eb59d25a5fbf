"""`npbert embed`, a vector for each line, and `npbert search`, the lines that are most similar to a text."""

import argparse
import shutil
import sys
from collections.abc import Iterable
from typing import Any

from npbert.cli.options import add_columns, reads_files
from npbert.cli.parser import COUNT, Parser, Run, Value
from npbert.cli.predict import rows_of
from npbert.cli.text import (
    JSON_LINES,
    STANDARD_INPUT,
    check_output,
    name_of,
    read_array,
    read_lines,
    write_array,
    write_json_lines,
)
from npbert.data.tables import TABLE_ENDINGS
from npbert.inference import POOLINGS, Embed
from npbert.io.errors import at_least, one_of
from npbert.io.files import FileError
from npbert.io.messages import printable
from npbert.training.tasks import TaskSettings

_COLUMNS = ("text", "text_pair", "delimiter", "first_row")


def add_embed_command(command: Parser) -> Run:
    """Turn each text into a vector; texts that mean similar things get similar
    vectors. The file has a text on each line; the answer to each is a line of
    JSON, or a row of a NumPy array with --output NAME.npy. Of a table (TSV, CSV or lines of
    JSON), --text says which column to take.

    The folder of a sentence-transformers model has a modules.json, which says how
    its vectors are made; options on the command line override it.

    examples:
      npbert embed folder sentences.txt --output vectors.npy
      echo "A cat sat on the mat." | npbert embed folder --pooling cls
    To find the texts that are most similar to another: npbert search --help"""
    _add_options(command)
    add_columns(command, *_COLUMNS)
    return reads_files(command, _embed, (".npy", *JSON_LINES))


def _add_options(command: argparse.ArgumentParser) -> None:
    """The options that say how vectors are made."""
    command.add_argument("--pooling", type=Value(str, one_of(POOLINGS)), metavar="HOW", help="what makes one vector of "
                         f"those of all tokens: {', '.join(POOLINGS)} (default: what the folder says, or "
                         "mean)")  # fmt: skip
    command.add_argument("--layer", type=int, metavar="N", help="which hidden state to pool: 0 to L, or counted from "
                         "the end (default: -1, the last)")  # fmt: skip
    command.add_argument("--normalize", action=argparse.BooleanOptionalAction, help="whether to make every vector of "
                         "length 1 (default: what the folder says, or not)")  # fmt: skip
    command.add_argument("--max-length", type=Value(int, at_least(5)), metavar="N", help="how many tokens of a text to "
                         "read (default: what the folder says, or all that the model takes)")  # fmt: skip
    command.add_argument("--batch-size", type=COUNT, metavar="N", help="how many texts go through the model at once, "
                         "at most (default: as many as make 2048 tokens)")  # fmt: skip


def _read(args: argparse.Namespace) -> Embed:
    """The model in the folder, used as the options say. Raises: as Embed.from_pretrained."""
    names = ("pooling", "layer", "normalize", "max_length")
    return Embed.from_pretrained(args.folder, **{name: getattr(args, name) for name in names})


def _embed(args: argparse.Namespace) -> int:
    given = {name: getattr(args, name) for name in _COLUMNS if hasattr(args, name)}
    columns = TaskSettings(**given) if given else None
    if columns is None and args.input.endswith(TABLE_ENDINGS):
        raise FileError(f"{args.input} is a table, wanted a text on each line; --text says which column to take")
    texts = read_lines(args.input) if columns is None else rows_of(args.input, columns)[1]
    vectors = _read(args)(texts, batch_size=args.batch_size)
    if args.output and args.output.endswith(".npy"):
        write_array(vectors, args.output)
    else:
        rows = ({"text": text, "vector": vector.tolist()} for text, vector in zip(texts, vectors, strict=True))
        write_json_lines(rows, args.output)
    return 0


def add_search_command(command: Parser) -> Run:
    """Find the lines of a file that are most similar to a text: each becomes a
    vector, as with npbert embed, and the vectors are compared. A terminal shows
    the score, the line's number and the text of each hit, best first; in a file or
    a pipe, and with --json, the answer to each query is a line of JSON.

    examples:
      npbert search folder sentences.txt "A cat sat on the mat."
      npbert search folder sentences.txt - --top-k 3 <queries.txt >hits.jsonl
    To search the same lines often, make their vectors once:
      npbert embed folder sentences.txt --output vectors.npy
      npbert search folder sentences.txt "A cat sat." --vectors vectors.npy"""
    command.add_argument("folder", metavar="FOLDER", help="the folder of a run, or of a checkpoint")
    command.add_argument("corpus", metavar="FILE", help="where to search: a file with a text on each line")
    command.add_argument("queries", metavar="QUERY", nargs="+", help="what to search for; with - each line of standard "
                         "input is a query")  # fmt: skip
    command.add_argument("--vectors", metavar="FILE", help="the vectors of the lines, as npbert embed --output "
                         "NAME.npy writes them (default: they are made anew)")  # fmt: skip
    command.add_argument("--top-k", type=COUNT, default=5, metavar="N", help="how many lines to find for each query "
                         "(default: 5)")  # fmt: skip
    command.add_argument("--output", metavar="FILE", help="where to write; without it, to standard output")
    command.add_argument("--json", action="store_true", help="print a line of JSON for each query on a terminal, too")
    _add_options(command)
    return _search


def _search(args: argparse.Namespace) -> int:
    check_output(args.output, args.corpus, endings=JSON_LINES)
    are_from_standard_input = args.queries == [STANDARD_INPUT]
    if args.corpus == STANDARD_INPUT and are_from_standard_input:
        raise ValueError("the lines and the queries cannot both come from standard input: wanted a file, or a query")
    embed = _read(args)  # what is wrong with the folder is said before anybody types a query
    lines = read_lines(args.corpus)
    queries = read_lines(STANDARD_INPUT) if are_from_standard_input else args.queries
    for query in queries:
        if not query.strip():
            raise ValueError("a query is empty: there is nothing to search for")
    numbers = [number for number, line in enumerate(lines) if line.strip()]
    if args.vectors is None:
        corpus = embed([lines[number] for number in numbers], batch_size=args.batch_size)
    else:
        vectors, shape = read_array(args.vectors), (len(lines), embed.model.config.hidden_size)
        if vectors.shape != shape:
            wanted = f"wanted {shape}, one for each line of {name_of(args.corpus)}"
            raise FileError(f"{args.vectors} has vectors {vectors.shape}, {wanted}")
        corpus = vectors[numbers]
    found = embed.semantic_search(embed(queries, batch_size=args.batch_size), corpus, top_k=args.top_k)
    rows = []
    for query, hits in zip(queries, found, strict=True):
        known = [(numbers[hit.corpus_id], hit.score) for hit in hits]
        shown = [{"line": number + 1, "text": lines[number], "score": score} for number, score in known]
        rows.append({"query": query, "hits": shown})
    if args.output or args.json or not sys.stdout.isatty():
        write_json_lines(rows, args.output, for_people=not args.json)
    else:
        _print_hits(rows)
    return 0


def _print_hits(rows: Iterable[dict[str, Any]]) -> None:
    """For a person at a terminal: under each query its hits, each on one line of the screen."""
    width = shutil.get_terminal_size().columns
    for row in rows:
        print(printable(row["query"]))
        for hit in row["hits"]:
            line = f"{hit['score']:8.3f}  line {hit['line']:<6,}{printable(hit['text'])}"
            print(line if len(line) <= width else f"{line[: width - 1]}…")
