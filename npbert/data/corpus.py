"""Corpus: documents on disk, read piece by piece, so a corpus may be larger than memory."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from npbert.io import Place, counted, warn
from npbert.io.files import FileError, decode

PIECE_BYTES = 32 * 1024
"""The bytes of a document read at once, about 250 sentences."""

LONGEST_LINE = PIECE_BYTES
"""A longer line is read in parts: as one sentence, most of a book without line breaks would be cut off."""


class CorpusPiece(NamedTuple):
    """Some whole lines of one document: `size` bytes of `file`, from `start` on."""

    file: Path
    start: int
    size: int
    document: int


class Corpus:
    """Text files with one sentence per line and a blank line between documents. A new file is a new document.

    paths: files, or folders, with all their .txt files in the order of names. document_per_file: each file is one
    document, despite blank lines.

    `len(corpus)` is the number of `pieces`; only their positions are kept in memory, and iteration reads one after
    another. `num_documents` counts documents, `num_bytes` is the size of the text.

    Raises: FileError with file and line for text that is not UTF-8, and for a file or folder without text; OSError for
    an unreadable file.
    """

    def __init__(self, paths: Sequence[str | Path], *, document_per_file: bool = False) -> None:
        self.files = [file for path in map(Path, paths) for file in text_files(path)]
        self.pieces: list[CorpusPiece] = []
        self.num_documents = 0
        for file in self.files:
            if file.exists() and not file.is_file():
                raise FileError(f"{file} is a pipe or a device, wanted a file, as a corpus is read many times")
            pieces = list(_pieces(file, self.num_documents, document_per_file))
            if not pieces:
                raise FileError(f"{file} is empty, wanted text")
            self.pieces += pieces
            self.num_documents = pieces[-1].document + 1
        if not self.files:
            raise FileError("paths is empty, wanted at least one file")
        self.num_bytes = sum(piece.size for piece in self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    def __iter__(self) -> Iterator[list[str]]:
        return map(self.read, range(len(self)))

    def read(self, number: int) -> list[str]:
        """Return the sentences of piece `number`, without blank lines."""
        path, start, size, _ = self.pieces[number]
        with path.open("rb") as file:
            file.seek(start)
            text = decode(file.read(size), Place(path))
        return [line.strip() for line in text.split("\n") if line.strip()]


def passages(held_out: Corpus, corpus: Corpus) -> tuple[set[int], set[int]]:
    """Return the hashes of the passages of a held-out text, and of the corpus's passages that may equal them.

    Only pieces of the corpus of about the size of a held-out piece are read: the last document of a file may lack its
    blank line.
    """
    sizes = {piece.size + more for piece in held_out.pieces for more in (-1, 0, 1)}
    alike = (corpus.read(number) for number, piece in enumerate(corpus.pieces) if piece.size in sizes)
    return {hash(tuple(passage)) for passage in held_out}, {hash(tuple(passage)) for passage in alike}


def warn_of_known(held_out: set[Any], learned: set[Any], thing: str, place: str | Place, other: str | Place) -> None:
    """Warn if some held-out things, of one place, are also in the training data, the other place: the model may know
    them by heart."""
    count = len(held_out & learned)
    if count:
        said = f"{other} has {count} of {counted(len(held_out), thing)} of {place} in it"
        warn(f"{said}: a model that knows them by heart looks better than it is")


def text_files(path: Path) -> list[Path]:
    """Return the .txt files of a folder in the order of their names, or the file `path`.

    Raises: FileError for a folder without such files.
    """
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.txt"))
    if not files:
        raise FileError(f"{path} has no .txt files, wanted at least one")
    return files


def _pieces(file: Path, document: int, document_per_file: bool) -> Iterator[CorpusPiece]:
    """Yield the pieces of a file, whose first document has the number `document`."""
    start, position, has_text = 0, 0, False
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            is_blank = not decode(line, Place(file, number)).strip()
            ends_document = is_blank and not document_per_file
            for place, part in enumerate(_parts(line)):
                if has_text and (ends_document or place or position - start >= PIECE_BYTES):
                    yield CorpusPiece(file, start, position - start, document)
                    start, has_text = position, False
                    document += ends_document
                has_text = has_text or bool(not is_blank and part.strip())
                position += len(part)
    if has_text:
        yield CorpusPiece(file, start, position - start, document)


def _parts(line: bytes) -> Iterator[bytes]:
    """Yield the line; or the parts of a line above LONGEST_LINE bytes, each up to a space, or else to the end of a
    character."""
    start = 0
    while len(line) - start > LONGEST_LINE:
        end = line.rfind(b" ", start, start + LONGEST_LINE) + 1 or start + LONGEST_LINE
        while line[end] & 0xC0 == 0x80:  # within a character of UTF-8
            end -= 1
        yield line[start:end]
        start = end
    yield line[start:]
