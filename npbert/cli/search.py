"""`npbert search`: the lines of a file that are most similar to a text."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable
from typing import Any

from npbert.cli.embed import add_embed_options, read_embed
from npbert.cli.text import STANDARD_INPUT, check_output, read_lines, write_json_lines
from npbert.messages import printable

_DESCRIPTION = """Find the lines of a file that are most similar to a text: each becomes a
vector, as with npbert embed, and the vectors are compared. A terminal shows
the score, the line's number and the text of each hit, best first; in a file or
a pipe, and with --json, the answer to each query is a line of JSON."""

_EPILOG = """examples:
  npbert search folder sentences.txt "A cat sat on the mat."
  npbert search folder sentences.txt - --top-k 3 <queries.txt >hits.jsonl"""


def add_search_command(commands: Any) -> None:
    """Add the command to those of the parser."""
    command = commands.add_parser(
        "search", help="find the lines that are most similar to a text", description=_DESCRIPTION, epilog=_EPILOG
    )
    command.add_argument("folder", metavar="FOLDER", help="the folder of a run, or of a checkpoint")
    command.add_argument("corpus", metavar="FILE", help="where to search: a file with a text on each line")
    command.add_argument("queries", metavar="QUERY", nargs="+", help="what to search for; with - each line of standard "
                         "input is a query")  # fmt: skip
    command.add_argument("--top-k", type=int, default=5, metavar="N", help="how many lines to find for each query "
                         "(default: 5)")  # fmt: skip
    command.add_argument("--output", metavar="FILE", help="where to write; without it, to standard output")
    command.add_argument("--json", action="store_true", help="print a line of JSON for each query on a terminal, too")
    add_embed_options(command)
    command.set_defaults(run=_search)


def _search(args: argparse.Namespace) -> int:
    check_output(args.output, args.corpus)
    are_from_standard_input = args.queries == [STANDARD_INPUT]
    if args.corpus == STANDARD_INPUT and are_from_standard_input:
        raise ValueError("the lines and the queries cannot both come from standard input: wanted a file, or a query")
    if args.top_k < 1:
        raise ValueError(f"--top-k is {args.top_k}, wanted at least 1")
    embed = read_embed(args)  # what is wrong with the folder is said before anybody types a query
    lines = read_lines(args.corpus)
    queries = read_lines(STANDARD_INPUT) if are_from_standard_input else args.queries
    for query in queries:
        if not query.strip():
            raise ValueError("a query is empty: there is nothing to search for")
    numbers = [number for number, line in enumerate(lines) if line.strip()]
    corpus = embed([lines[number] for number in numbers], batch_size=args.batch_size)
    found = embed.semantic_search(embed(queries, batch_size=args.batch_size), corpus, top_k=args.top_k)
    rows = [
        {
            "query": query,
            "hits": [
                {"line": numbers[hit.corpus_id] + 1, "text": lines[numbers[hit.corpus_id]], "score": hit.score}
                for hit in hits
            ],
        }
        for query, hits in zip(queries, found, strict=True)
    ]
    if args.output or args.json or not sys.stdout.isatty():
        write_json_lines(rows, args.output)
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
