"""The kinds of cases: each takes a seed's generator and an empty folder, and gives what is to be called."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from tests.fuzz.base import CHOICES, CONLL, SCORES, SQUAD, TABLE, TEXTS, Base
from tests.fuzz.mutate import NASTY, Rng, json_bytes, pick, spoil, spoil_bytes, spoil_json, spoil_lines
from tests.fuzz.outcome import Outcome, command

Call = Callable[[], object]
KINDS: dict[str, tuple[float, Callable[[Rng, Base, Path], Call]]] = {}
"""By name: how many of 100 cases are of this kind, and the function that makes one."""
USED_AS = {"regression": "classify", "choice": "embed", "pretraining": "fill-mask"}
OPTIONS = "--top-k --pooling --layer --normalize --question --n-best --output --size -v --task --text --label"
OPTIONS += " --max-length --batch-size --delimiter --json --resume -q"


def kind(share: float) -> Any:
    def add(make: Any) -> Any:
        KINDS[make.__name__] = share, make
        return make

    return add


def use(name: str, folder: Path, stdin: bytes | None = None) -> Outcome:
    """What a person does with a checkpoint of this head."""
    name = USED_AS.get(name, name)
    return command(name, folder, stdin=TEXTS[name].encode() if stdin is None else stdin)


def evaluate(folder: Path, path: Path, *options: str) -> Call:
    """What a task says of a file; of no more tokens than the model takes, or none would get so far."""
    return lambda: command("evaluate", folder, path, "--max-length", "32", "--task", *options, is_json=False)


@kind(18)
def weights(rng: Rng, base: Base, folder: Path) -> Call:
    """A model.safetensors that is damaged, or says something else in its head, or holds other numbers."""
    name, copy = base.copy_of_one(rng, folder)
    path = copy / "model.safetensors"
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    match int(rng.integers(3)):
        case 0:
            data = spoil_bytes(rng, data)
        case 1:
            head = json_bytes(rng, json.loads(data[8 : 8 + length]))
            data = len(head).to_bytes(8, "little") + head + data[8 + length :]
        case _:
            numbers = bytearray(data)
            infinite = [b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\0\0\x80\xff", b"\xff\xff\x7f\x7f"]
            for at in rng.integers(8 + length, len(data) - 4, int(rng.integers(1, 40))).tolist():
                at -= (at - 8 - length) % 4
                numbers[at : at + 4] = pick(rng, infinite)
            data = bytes(numbers)
    path.write_bytes(data)
    return lambda: use(name, copy)


@kind(12)
def config(rng: Rng, base: Base, folder: Path) -> Call:
    """A config.json with other values, or that is none."""
    name, copy = base.copy_of_one(rng, folder)
    spoil(rng, copy / "config.json")
    return lambda: use(name, copy)


@kind(10)
def tokenizer(rng: Rng, base: Base, folder: Path) -> Call:
    """A spoiled tokenizer.json, vocab.txt or tokenizer_config.json."""
    name, copy = base.copy_of_one(rng, folder)
    which = pick(rng, ["tokenizer.json", "vocab.txt", "tokenizer_config.json"])
    spoil(rng, copy / which)
    if which != "tokenizer.json":
        (copy / "tokenizer.json").unlink()
    return lambda: use(name, copy)


@kind(4)
def sentence_vectors(rng: Rng, base: Base, folder: Path) -> Call:
    """What sentence-transformers leaves beside a checkpoint, spoiled."""
    copy = base.copy(base.checkpoints["embed"], folder)
    spoil(rng, copy / pick(rng, ["modules.json", "sentence_bert_config.json", "1_Pooling/config.json"]))
    return lambda: use("embed", copy)


@kind(10)
def texts(rng: Rng, base: Base, folder: Path) -> Call:
    """Any bytes for text."""
    name = pick(rng, list(TEXTS))
    separator = "\t" if name == "classify" else " "
    data = spoil_lines(rng, TEXTS[name] * int(rng.integers(1, 4)), separator)
    if name == "answer" and rng.random() < 0.7:
        data = json_bytes(rng, json.loads(TEXTS[name]))
    return lambda: use(name, base.checkpoints[name], data)


@kind(13)
def tables(rng: Rng, base: Base, folder: Path) -> Call:
    """Labelled tables of every format, with columns that are there or not."""
    head, task, text, options = pick(
        rng,
        [
            ("classify", "classification", TABLE, "--text 1 --label 0"),
            ("regression", "regression", SCORES, "--text 1 --text-pair 2 --label 0"),
            ("choice", "multiple-choice", CHOICES, "--text 1 --choices 2 3 --label 0"),
        ],
    )
    form, columns = pick(rng, ["tsv", "csv", "jsonl"]), options.split()
    path = folder / f"table.{form}"
    if form == "jsonl":
        rows = [dict(enumerate(line.split("\t"))) for line in text.splitlines()]
        rows = [spoil_json(rng, {str(key): value for key, value in row.items()}) for row in rows]
        path.write_bytes("\n".join(map(json.dumps, rows)).encode())
    else:
        separator = "\t" if form == "tsv" else ","
        path.write_bytes(spoil_lines(rng, text.replace("\t", separator), separator))
    if rng.random() < 0.2:
        columns[int(rng.integers(1, len(columns)))] = str(pick(rng, NASTY)).replace("\0", "")
    return evaluate(base.checkpoints[head], path, task, *columns)


@kind(5)
def conll(rng: Rng, base: Base, folder: Path) -> Call:
    """Words and tags in columns."""
    path = folder / "tags.conll"
    path.write_bytes(spoil_lines(rng, CONLL, " "))
    return evaluate(base.checkpoints["tag"], path, "tagging")


@kind(7)
def squad(rng: Rng, base: Base, folder: Path) -> Call:
    """Questions and answers as SQuAD has them."""
    path = folder / "squad.json"
    path.write_bytes(json_bytes(rng, SQUAD))
    return evaluate(base.checkpoints["answer"], path, "squad")


@kind(4)
def corpora(rng: Rng, base: Base, folder: Path) -> Call:
    """Text to learn a vocabulary from."""
    path = folder / "corpus.txt"
    path.write_bytes(spoil_lines(rng, base.corpus.read_text(encoding="utf-8"), " "))
    options = ["--size", pick(rng, [1, 20, 40, 100, 30522]), "--min-frequency", pick(rng, [-1, 0, 1, 2, 100])]
    return lambda: command("vocab", path, "--output", folder / "vocabulary", *options, is_json=False)


@kind(1.5)
def runs(rng: Rng, base: Base, folder: Path) -> Call:
    """A run's folder in which something is spoiled or gone, and which is asked to go on, or is judged. Its
    pictures are made, but not drawn."""
    copy = base.copy(base.run, folder)
    files = [path for path in copy.rglob("*") if path.is_file() and path.name != ".lock"]
    for number in rng.permutation(len(files))[: int(rng.integers(1, 3))].tolist():
        if rng.random() < 0.3:
            files[number].unlink()
        else:
            spoil(rng, files[number])
    arguments = ("pretrain", copy, "--resume") if rng.random() < 0.7 else ("evaluate", copy, base.corpus)
    return not_drawn("npbert.plots.drawing.as_bytes", b"", *arguments)


@kind(0.4)
def report(rng: Rng, base: Base, folder: Path) -> Call:
    """The rows that a run has left, spoiled, and a report of them."""
    copy = base.copy(base.run, folder)
    path = copy / pick(rng, ["metrics.jsonl", "layers.jsonl", "shown.jsonl"])
    lines = path.read_text(encoding="utf-8").splitlines()
    if rng.random() < 0.3:
        spoil(rng, path)
    else:
        number = int(rng.integers(len(lines)))
        lines[number] = json_bytes(rng, json.loads(lines[number])).decode("utf-8", "surrogateescape")
        path.write_text("\n".join([*lines, ""]), encoding="utf-8", errors="surrogateescape")
    return not_drawn("npbert.pages.report.page.as_bytes", b"", "report", copy)


def not_drawn(draws: str, nothing: bytes | str, *arguments: object) -> Call:
    """The command, for which the function called `draws`, which would take most of the time, gives `nothing`."""

    def call() -> Outcome:
        with mock.patch(draws, lambda *_: nothing):
            return command(*arguments, is_json=False)

    return call


@kind(4)
def settings(rng: Rng, base: Base, folder: Path) -> Call:
    """A TOML file of settings, for a corpus that is not there: none of it is for training."""
    path = folder / "settings.toml"
    path.write_bytes(spoil_lines(rng, (base.run / "settings.toml").read_text(encoding="utf-8"), " "))
    missing = folder / "nothing-here"
    return lambda: command("pretrain", folder / "new", "--settings", path, "--corpus", missing, is_json=False)


@kind(6)
def arguments(rng: Rng, base: Base, folder: Path) -> Call:
    """Any arguments, most of them of the kind that there is."""
    name = pick(rng, ["fill-mask", "embed", "classify", "tag", "answer", "params", "vocab", "evaluate", "", "search"])
    places = [base.checkpoints.get(name, base.run), base.corpus, folder, "-", "bert-tiny", "bert-smol", base.run]
    given = [name, pick(rng, places)]
    for _ in range(int(rng.integers(0, 5))):
        given.append(pick(rng, [*OPTIONS.split() * 2, *places, *NASTY]))
    written = [str(argument).replace("\0", "") for argument in given]
    written = [argument for argument in written if not argument.startswith("/dev")]
    return lambda: command(*written, stdin=b"the [MASK]\n", is_json=False)
