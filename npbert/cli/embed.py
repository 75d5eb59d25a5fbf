"""`npbert embed`, a vector for each line, and `npbert search`, the lines that are most similar to a text."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from npbert.cli.command import argument, switch
from npbert.cli.options import COLUMNS, FilesCommand
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
from npbert.inference import POOLINGS, Classify, Embed
from npbert.inference.rerank import RERANKED, rerank
from npbert.inference.search import PRECISIONS, at_precision
from npbert.io.errors import at_least, one_of
from npbert.io.files import FileError
from npbert.io.messages import printable
from npbert.io.settings import setting


@dataclass
class VectorCommand(FilesCommand):
    """A command that makes a vector of each text of a file."""

    pooling: str | None = setting(
        None,
        f"how the vectors of all tokens become one: {', '.join(POOLINGS)} (default: what the folder says, or mean)",
        value="HOW",
        wanted=one_of(POOLINGS),
    )
    layer: int | None = setting(
        None, "which hidden state to pool: 0 to L, or counted from the end (default: -1, the last)"
    )
    normalize: bool | None = setting(
        None, "whether to make every vector of length 1 (default: what the folder says, or not)"
    )
    max_length: int | None = setting(
        None,
        "how many tokens of a text to read (default: what the folder says, or all that the model takes)",
        wanted=at_least(5),
    )
    batch_size: int | None = setting(
        None,
        "how many texts go through the model at once, at most (default: as many as make 2048 tokens)",
        wanted=at_least(1),
    )

    columns: ClassVar[tuple[str, ...]] = ("text", "delimiter", "first_row")

    def embed(self) -> Embed:
        """The model in the folder, used as the options say. Raises: as Embed.from_pretrained."""
        names = "pooling", "layer", "normalize", "max_length"
        return Embed.from_pretrained(self.folder, **{name: getattr(self, name) for name in names})

    def read(self) -> tuple[Sequence[int], list[Any]]:
        """The texts of the file, and in which line each of them is."""
        columns = self.columns_of(None)
        if columns is None and self.input.endswith(TABLE_ENDINGS):
            wanted = "a text on each line; --text says which column to take"
            raise FileError(f"{self.input} is a table", wanted=wanted)
        if columns is None:
            texts = read_lines(self.input)
            return range(1, len(texts) + 1), texts
        places, texts = rows_of(self.input, columns)
        return [place["line"] for place in places], texts


@dataclass
class EmbedCommand(VectorCommand):
    """Turn each text into a vector; texts that mean similar things get similar
    vectors. The file has a text on each line; the answer to each is a line of
    JSON, or a row of a NumPy array with --output NAME.npy. Of a table (TSV, CSV or
    lines of JSON), --text says which column to take.

    The folder of a sentence-transformers model has a modules.json, which says how
    its vectors are made; options on the command line override it.

    examples:
      npbert embed folder sentences.txt --output vectors.npy
      echo "A cat sat on the mat." | npbert embed folder --pooling cls
    To find the texts that are most similar to another: npbert search --help"""

    precision: str = setting(
        "float32",
        "for --output NAME.npy: float32, float16 (half the size), or int8 (a quarter; for cosines only)",
        value="TYPE",
        wanted=one_of(PRECISIONS),
    )

    columns: ClassVar = COLUMNS
    endings: ClassVar = (".npy", *JSON_LINES)

    def write(self) -> None:
        """Write the vectors."""
        embed = self.embed()
        _, texts = self.read()
        vectors = embed(texts, batch_size=self.batch_size)
        if self.output.endswith(".npy"):
            write_array(at_precision(vectors, self.precision), self.output)
        else:
            rows = ({"text": text, "vector": vector.tolist()} for text, vector in zip(texts, vectors, strict=True))
            write_json_lines(rows, self.output)


@dataclass
class SearchCommand(VectorCommand):
    """Find the lines of a file that are most similar to a text: each becomes a
    vector, as with npbert embed, and the vectors are compared. Of a table (TSV,
    CSV or lines of JSON), --text says which column to search in. A terminal shows
    the score, the line's number and the text of each hit, best first; in a file or
    a pipe, and with --json, the answer to each query is a line of JSON.

    examples:
      npbert search folder sentences.txt "A cat sat on the mat."
      npbert search folder sentences.txt - --top-k 3 <queries.txt >hits.jsonl
    To search the same lines often, make their vectors once:
      npbert embed folder sentences.txt --output vectors.npy
      npbert search folder sentences.txt "A cat sat." --vectors vectors.npy"""

    input: str = argument("FILE", "where to search: a file with a text on each line, or a table")
    queries: tuple[str, ...] = argument(
        "QUERY", "what to search for; with - each line of standard input is a query", default=()
    )
    vectors: str = setting(
        "",
        "the vectors of the lines, as npbert embed --output NAME.npy writes them (default: they are made anew)",
        value="FILE",
    )
    rerank: str = setting(
        "",
        "the folder of a model that scores pairs of texts, with one label; it puts the lines that are found first in "
        "its order",
        value="FOLDER",
    )
    top_k: int = setting(5, "how many lines to find for each query", wanted=at_least(1))
    json: bool = switch("print a line of JSON for each query on a terminal, too")

    def run(self) -> int:
        """Write the lines that are found."""
        check_output(self.output, self.input, endings=JSON_LINES)
        are_from_standard_input = self.queries == (STANDARD_INPUT,)
        if self.input == STANDARD_INPUT and are_from_standard_input:
            raise ValueError(
                "the lines and the queries cannot both come from standard input: wanted a file, or a query"
            )
        embed = self.embed()  # what is wrong with the folder is said before anybody types a query
        judge = Classify.from_pretrained(self.rerank) if self.rerank else None
        places, texts = self.read()
        queries = read_lines(STANDARD_INPUT) if are_from_standard_input else self.queries
        if not all(query.strip() for query in queries):
            raise ValueError("a query is empty: there is nothing to search for")
        numbers = [number for number, text in enumerate(texts) if text.strip()]
        if self.vectors:
            vectors = self._read_vectors(embed, len(texts))[numbers]
        else:
            vectors = embed([texts[number] for number in numbers], batch_size=self.batch_size)
        count = max(RERANKED, self.top_k) if judge else self.top_k
        found = embed.semantic_search(embed(queries, batch_size=self.batch_size), vectors, top_k=count)
        rows = []
        for query, hits in zip(queries, found, strict=True):
            known = [(numbers[hit.corpus_id], hit.score) for hit in hits]
            if judge:
                order = rerank(judge, query, [texts[number] for number, _ in known])
                known = [(known[hit.corpus_id][0], hit.score) for hit in order[: self.top_k]]
            shown = [{"line": places[number], "text": texts[number], "score": score} for number, score in known]
            rows.append({"query": query, "hits": shown})
        if self.output or self.json or not sys.stdout.isatty():
            write_json_lines(rows, self.output, for_people=not self.json)
        else:
            _print_hits(rows)
        return 0

    def _read_vectors(self, embed: Embed, count: int) -> Any:
        vectors, shape = read_array(self.vectors), (count, embed.model.config.hidden_size)
        if vectors.shape != shape:
            wanted = f"wanted {shape}, one for each line of {name_of(self.input)}"
            raise FileError(f"{self.vectors} has vectors {vectors.shape}, {wanted}")
        if vectors.dtype.kind == "i" and embed.similarity_fn_name != "cosine":
            raise FileError(f"{self.vectors} has vectors without lengths", wanted="float16: the folder compares by dot")
        return vectors


def _print_hits(rows: Iterable[dict[str, Any]]) -> None:
    """For a person at a terminal: under each query its hits, each on one line of the screen."""
    width = shutil.get_terminal_size().columns
    for row in rows:
        print(printable(row["query"]))
        for hit in row["hits"]:
            line = f"{hit['score']:8.3f}  line {hit['line']:<6,}{printable(hit['text'])}"
            print(line if len(line) <= width else f"{line[: width - 1]}…")
