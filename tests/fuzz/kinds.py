"""The kinds of cases: each takes a seed's generator and an empty folder, and gives what is to be called."""

import json

from tests.fuzz.base import LABELLED, TEXTS
from tests.fuzz.mutate import NASTY, json_bytes, pick, spoil, spoil_bytes, spoil_json, spoil_lines
from tests.fuzz.outcome import command

KINDS = {}
"""By name: how many of 100 cases are of this kind, and the function that makes one."""
USED_AS = {"regression": "classify", "choice": "embed", "pretraining": "fill-mask"}
OPTIONS = "--top-k --pooling --layer --normalize --question --n-best --output --size -v --task --text --label"
OPTIONS += " --max-length --batch-size --delimiter --json --resume -q"


def kind(share):
    def add(make):
        KINDS[make.__name__] = share, make
        return make

    return add


def use(name, folder, stdin=None):
    """What a person does with a checkpoint of this head."""
    name = USED_AS.get(name, name)
    return command(name, folder, stdin=TEXTS[name].encode() if stdin is None else stdin)


@kind(18)
def weights(rng, base, folder):
    """A model.safetensors that is damaged, or says something else in its head, or holds other numbers."""
    name, copy = base.copy_of_one(rng, folder)
    path = copy / "model.safetensors"
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    head, numbers = data[8 : 8 + length], data[8 + length :]
    match int(rng.integers(3)):
        case 0:
            data = spoil_bytes(rng, data)
        case 1:
            head = json_bytes(rng, json.loads(head))
            data = len(head).to_bytes(8, "little") + head + numbers
        case _:
            for at in (4 * rng.integers(len(numbers) // 4, size=int(rng.integers(1, 40)))).tolist():
                infinite = pick(rng, [b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\0\0\x80\xff", b"\xff\xff\x7f\x7f"])
                numbers = numbers[:at] + infinite + numbers[at + 4 :]
            data = data[: 8 + length] + numbers
    path.write_bytes(data)
    return lambda: use(name, copy)


@kind(26)
def checkpoints(rng, base, folder):
    """A spoiled config.json, a file of the tokenizer, or of what sentence-transformers leaves beside them."""
    name, copy = base.copy_of_one(rng, folder)
    path = pick(rng, sorted(path for path in copy.rglob("*") if path.suffix in (".json", ".txt")))
    spoil(rng, path)
    if path.name in ("vocab.txt", "tokenizer_config.json"):
        (copy / "tokenizer.json").unlink()
    return lambda: use(name, copy)


@kind(10)
def texts(rng, base, folder):
    """Any bytes for text."""
    name = pick(rng, list(TEXTS))
    data = spoil_lines(rng, TEXTS[name] * int(rng.integers(1, 4)), pick(rng, "\t "))
    if name == "answer" and rng.random() < 0.7:
        data = json_bytes(rng, json.loads(TEXTS[name]))
    return lambda: use(name, base.checkpoints[name], data)


@kind(25)
def labelled(rng, base, folder):
    """What a task says of a labelled file: tables of every format, with columns that are there or not, words and tags,
    questions and answers."""
    head = pick(rng, list(LABELLED))
    text, options = LABELLED[head]
    form, words = pick(rng, ["tsv", "csv", "jsonl"]) if "\t" in text else "json", options.split()
    path = folder / f"table.{form}"
    if head == "answer":
        path.write_bytes(json_bytes(rng, json.loads(text)))
    elif form == "jsonl":
        rows = [dict(enumerate(line.split("\t"))) for line in text.splitlines()]
        rows = [spoil_json(rng, {str(key): value for key, value in row.items()}) for row in rows]
        path.write_bytes("\n".join(map(json.dumps, rows)).encode())
    else:
        separator = {"tsv": "\t", "csv": ","}.get(form, " ")
        path.write_bytes(spoil_lines(rng, text.replace("\t", separator), separator))
    if rng.random() < 0.2:
        words[int(rng.integers(1, len(words)))] = str(pick(rng, NASTY)).replace("\0", "")
    given = ("--max-length", "32", "--task", *words)  # of no more tokens than the model takes: none got so far else
    return lambda: command("evaluate", base.checkpoints[head], path, *given, is_json=False)


@kind(2)
def runs(rng, base, folder):
    """A run's folder in which something is spoiled or gone; it is to go on, or to be judged, or reported of."""
    copy = base.copy(base.run, folder)
    files = [path for path in sorted(copy.rglob("*")) if path.is_file() and path.name != ".lock"]
    for number in rng.permutation(len(files))[: int(rng.integers(1, 3))].tolist():
        if rng.random() < 0.3:
            files[number].unlink()
        else:
            spoil(rng, files[number])
    arguments = pick(rng, [("pretrain", copy, "--resume"), ("evaluate", copy, base.corpus), ("report", copy)])

    return lambda: command(*arguments, is_json=False)


@kind(4)
def settings(rng, base, folder):
    """A TOML file of settings, for a corpus that is not there: none of it is for training."""
    path = folder / "settings.toml"
    path.write_bytes(spoil_lines(rng, (base.run / "settings.toml").read_text(encoding="utf-8"), " "))
    missing = folder / "nothing-here"
    return lambda: command("pretrain", folder / "new", "--settings", path, "--corpus", missing, is_json=False)


@kind(6)
def arguments(rng, base, folder):
    """Any arguments, most of them of the kind that there is."""
    name = pick(rng, [*TEXTS, "params", "vocab", "evaluate", "", "search"])
    places = [base.checkpoints.get(name, base.run), base.corpus, folder, "-", "bert-tiny", "bert-smol", base.run]
    given = [name, pick(rng, places)]
    given += [pick(rng, [*OPTIONS.split() * 2, *places, *NASTY]) for _ in range(int(rng.integers(0, 5)))]
    written = [str(argument).replace("\0", "") for argument in given]
    written = [argument for argument in written if not argument.startswith("/dev")]
    return lambda: command(*written, stdin=b"the [MASK]\n", is_json=False)
