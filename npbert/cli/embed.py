"""`npbert embed`, a vector for each line, and `npbert search`, the lines most similar to a text."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from npbert.cli.command import argument, switch
from npbert.cli.predict import COLUMNS, FilesCommand, Row
from npbert.data.task_files import TABLE_ENDINGS
from npbert.inference import POOLINGS, Classify, Embed
from npbert.inference.embed import PRECISIONS, at_precision
from npbert.io import (
    JSON_LINES,
    STANDARD_INPUT,
    FileError,
    Place,
    as_file_error,
    at_least,
    one_of,
    printable,
    read_lines,
    setting,
    write_json_lines,
    write_where_asked,
)

RERANKED = 50
"""The number of lines from a search by vectors that another model sorts again, for each query."""


class VectorCommand(FilesCommand):
    """A command that makes a vector of each text of a file."""

    pooling: str | None = setting(
        None,
        f"how to pool the token vectors: {', '.join(POOLINGS)} (default: the folder's, or mean)",
        value="HOW",
        wanted=one_of(POOLINGS),
    )
    layer: int | None = setting(
        None, "which hidden state to pool: 0 to L, or counted from the end (default: -1, the last)"
    )
    normalize: bool | None = setting(None, "scale every vector to length 1 (default: as in the folder, or off)")
    max_length: int | None = setting(
        None,
        "read at most this many tokens of a text (default: the folder's, or as many as the model takes)",
        wanted=at_least(5),
    )
    batch_size: int | None = setting(
        None,
        "at most this many texts at once (default: as many as make 2048 tokens)",
        wanted=at_least(1),
    )

    shared: ClassVar = {"for a file with columns": "text delimiter first_row"}

    def embed(self) -> Embed:
        """Return Embed for the model in the folder, with the options. Raises: as Embed.from_pretrained."""
        return Embed.from_pretrained(
            self.folder,
            pooling=self.pooling,
            layer=self.layer,
            normalize=self.normalize,
            max_length=self.max_length,
        )

    def read(self) -> list[Row]:
        """Return the texts of the file, with the numbers of their lines."""
        if self.given:
            return self.read_columns(self.kind(**self.given))
        if self.input.endswith(TABLE_ENDINGS):
            wanted = "a text on each line; --text says which column to take"
            raise FileError(f"{self.input} is a table, wanted {wanted}")
        return [({"line": number}, text) for number, text in enumerate(read_lines(self.input), start=1)]


class EmbedCommand(VectorCommand):
    """Turn each text into a vector. Texts with similar meanings get similar vectors. The file has a text on each line;
    the result for each is a line of JSON, or a row of a NumPy array with --output NAME.npy. For a table (TSV, CSV or
    lines of JSON), give the column with --text.

    A sentence-transformers model describes its vectors in modules.json. Options on the command line override it.

    examples:
      npbert embed folder sentences.txt --output vectors.npy
      echo "A cat sat on the mat." | npbert embed folder --pooling cls
    To find the texts most similar to another: npbert search --help"""

    precision: str = setting(
        "float32",
        "for --output NAME.npy: float32, float16 (half the size), or int8 (a quarter; for cosines only)",
        value="TYPE",
        wanted=one_of(PRECISIONS),
    )

    shared = COLUMNS
    endings = (".npy", *JSON_LINES)

    def rows(self) -> Iterable[Any]:
        """The text and the vector of each line."""
        embed, texts = self.embed(), [text for _, text in self.read()]
        return zip(texts, embed(texts, batch_size=self.batch_size), strict=True)

    def write(self, rows: Iterable[Any]) -> None:
        """Write the vectors, as an array or as lines."""
        if self.output.endswith(".npy"):
            vectors = at_precision(np.array([vector for _, vector in rows]), self.precision)
            array = io.BytesIO()
            np.save(array, vectors)  # into a file, it would hide the error of a full disk
            write_where_asked(self.output, [array.getbuffer()])
        else:
            write_json_lines(({"text": text, "vector": vector.tolist()} for text, vector in rows), self.output)


class SearchCommand(VectorCommand):
    """Find the lines of a file most similar to a text. Lines and text become vectors, as with npbert embed, and the
    vectors are compared. For a table (TSV, CSV or lines of JSON), give the column with --text. A terminal shows score,
    line number and text of each hit, best first. In a file or a pipe, and with --json, the result for each query is a
    line of JSON.

    examples:
      npbert search folder sentences.txt "A cat sat on the mat."
      npbert search folder sentences.txt - --top-k 3 <queries.txt >hits.jsonl
    To search the same lines often, make their vectors once:
      npbert embed folder sentences.txt --output vectors.npy
      npbert search folder sentences.txt "A cat sat." --vectors vectors.npy"""

    input: str = argument("FILE", "the file to search, with a text on each line, or a table")
    queries: tuple[str, ...] = argument(
        "QUERY", "the text to search for; with -, each line of standard input is a query", default=()
    )
    vectors: str = setting(
        "",
        "the vectors of the lines, from npbert embed --output NAME.npy (default: compute them)",
        value="FILE",
    )
    rerank: str = setting(
        "",
        "the folder of a cross-encoder (a classifier of pairs with one label), which reorders the best hits",
        value="FOLDER",
    )
    top_k: int = setting(5, "how many lines to find for each query", wanted=at_least(1))
    json: bool = switch("print a line of JSON for each query, also on a terminal")

    def rows(self) -> Iterable[Any]:
        """The hits of each query. Empty lines are never found."""
        embed = self.embed()
        judge = Classify.from_pretrained(self.rerank) if self.rerank else None
        lines = [{**place, "text": text} for place, text in self.read()]
        queries = read_lines(STANDARD_INPUT) if self.queries == (STANDARD_INPUT,) else self.queries
        if not all(query.strip() for query in queries):
            raise ValueError("a query is empty: there is nothing to search for")
        with_text = [number for number, line in enumerate(lines) if line["text"].strip()]
        known = [lines[number] for number in with_text]
        if self.vectors:
            with as_file_error(f"{self.vectors} is not an array of npbert embed --output NAME.npy"):
                stored = np.lib.format.open_memmap(self.vectors, mode="r")
            shape = len(lines), embed.model.config.hidden_size
            if stored.shape != shape:
                wanted = f"wanted {shape}, one for each line of {Place(self.input)}"
                raise FileError(f"{self.vectors} has vectors {stored.shape}, {wanted}")
            if stored.dtype.kind == "i" and embed.similarity_fn_name != "cosine":
                wanted = "float16: the folder compares by dot"
                raise FileError(f"{self.vectors} has vectors without lengths, wanted {wanted}")
            vectors = stored[with_text]
        else:
            vectors = embed([line["text"] for line in known], batch_size=self.batch_size)
        best = embed.semantic_search(queries, vectors, top_k=max(RERANKED, self.top_k))
        for query, hits in zip(queries, best, strict=True):
            found = [{**known[number], "score": score} for number, score in hits]
            if judge:
                order = judge.rerank(query, [each["text"] for each in found])
                found = [{**found[number], "score": score} for number, score in order]
            yield {"query": query, "hits": found[: self.top_k]}

    def write(self, rows: Iterable[Any]) -> None:
        """Write the hits; on a terminal, one line of the screen for each."""
        if self.output or self.json or not sys.stdout.isatty():
            super().write(rows)
            return
        width = shutil.get_terminal_size().columns
        for row in rows:
            print(printable(row["query"]))
            for hit in row["hits"]:
                line = f"{hit['score']:8.3f}  line {hit['line']:<6,}{printable(hit['text'])}"
                print(line if len(line) <= width else f"{line[: width - 1]}…")
