"""docs/bert.py: it trains as the library does, each of its backwards is proved, and what the docs say of it is true."""

import ast
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import npbert
from npbert import (
    IGNORED,
    AdamW,
    BertConfig,
    BertForPreTraining,
    Tape,
    clip_by_global_norm,
    linear_warmup_decay,
)
from npbert.compute import erf
from npbert.data import Example, collate, load_dialogue
from npbert.gradcheck import PROVED, REFUTED, prove_vjp
from npbert.models.packed_batch import Reads
from tests.tables import one_in

ROOT = Path(__file__).parent.parent
SOURCE = (ROOT / "docs" / "bert.py").read_text(encoding="utf-8")
SEQUENCE = SimpleNamespace(  # some words twice, and of two rows that are read one is [CLS]'s neighbor
    ids=np.array([1, 4, 3, 2, 6, 4, 2]), segments=np.array([0, 0, 0, 0, 1, 1, 1]), masked=np.array([1, 2, 5])
)
BATCH, STEPS, LR = 8, 24, 5e-3


def read(source=SOURCE):
    module = ModuleType("bert")
    exec(compile(source, "docs/bert.py", "exec"), vars(module))
    module.erf = erf  # of arrays of the proof's numbers, too, where Python's takes floats alone
    return module


class LibraryDraws(np.random.Generator):
    """Dropout as the library draws it: 16 bits for each number of an array, four numbers at a time."""

    def random(self, size=None):
        if size is None:
            return super().random()
        count = int(np.prod(size))
        bits = self.integers(2**64, size=-(-count // 4), dtype=np.uint64).view(np.uint16)
        return bits[:count].reshape(size) / 2**16


@pytest.mark.parametrize("p", one_in(2, [0.1, 0.0]))
def test_it_trains_as_the_library_does(p, monkeypatch):
    """From the same seed, on the same sequences: all losses, and the parameters at the end.

    Without dropout, the library takes a batch at once, its last layer only the rows that a head reads. With dropout, it
    takes sequence after sequence and computes all rows, so that it can draw what the file draws.
    """
    bert, drawn = read(), []
    forward = bert.bert

    def record(sequence, model, tape):
        drawn.append((sequence, np.random.Generator(deepcopy(tape.rng.bit_generator))))
        return forward(sequence, model, tape)

    bert.bert = record
    rng = LibraryDraws(np.random.PCG64(7))
    ours = bert.Bert(len(bert.WORDS), rng, D=32, H=4, F=64)
    dropout = {"hidden_dropout_prob": p, "attention_probs_dropout_prob": p}
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    config = BertConfig(vocab_size=len(bert.WORDS), max_position_embeddings=30, **sizes, **dropout)
    theirs = BertForPreTraining(config, rng=np.random.default_rng(7), dtype=np.float64)

    our_losses = list(bert.train(ours, STEPS, LR, p, rng, BATCH))
    batches = [drawn[i : i + BATCH] for i in range(0, len(drawn), BATCH)]
    if p:
        monkeypatch.setattr(BertForPreTraining, "reads", Reads("all", "word"))
    their_losses = train_library(theirs, batches, 1 if p else BATCH)
    assert len(our_losses) == STEPS and np.mean(our_losses[-5:]) < np.mean(our_losses[:5]) - 0.1
    np.testing.assert_allclose(our_losses, their_losses, rtol=1e-12)
    for own, (name, parameter) in zip(ours.parameters, theirs.named_parameters(), strict=True):
        np.testing.assert_allclose(own.value, parameter.value, rtol=0, atol=1e-10 * LR, err_msg=name)


def train_library(model, batches, size):
    """The losses of each step. size: how many sequences of a batch the library takes at once."""
    optimizer, losses = AdamW(model.parameters()), np.zeros((len(batches), 2))
    for step, batch in enumerate(batches):
        model.zero_grad()
        masked = sum(len(sequence.masked) for sequence, _ in batch)
        for part in (batch[i : i + size] for i in range(0, len(batch), size)):
            share = sum(len(sequence.masked) for sequence, _ in part) / masked, len(part) / len(batch)
            tape = Tape(part[0][1])
            loss = model.loss(collate([example(sequence) for sequence, _ in part], pad_id=0), tape)
            losses[step] += np.multiply(share, (loss.mlm_loss, loss.nsp_loss))
            model.loss_backward(share, tape)
        clip_by_global_norm(optimizer.parameters, 1.0)
        optimizer.lr = linear_warmup_decay(step, lr=LR, warmup_steps=len(batches) // 10, total_steps=len(batches))
        optimizer.step()
    return losses


def example(sequence):
    labels = np.full(len(sequence.ids), IGNORED)
    labels[sequence.masked] = sequence.targets
    return Example(sequence.ids, sequence.segments, labels, sequence.label[0])


def test_its_dialogue_is_the_librarys():
    bert, dialogue = read(), load_dialogue(9)
    assert (*dialogue.text,) == (*bert.DIALOGUE.splitlines(),)
    assert (dialogue.vocabulary.tokens, dialogue.lines) == (bert.WORDS, bert.LINES)


LAYERS = {  # how each is called, with the file b, a model m and a tape t; and the shapes of what floats it is given
    "linear": (lambda b, m, t, x: b.linear(x, *m.layers[0].inner, t), (5, 8)),
    "gelu": (lambda b, m, t, x: b.gelu(x, t), (5, 8)),
    "layer_norm": (lambda b, m, t, x: b.layer_norm(x, *m.norm, t), (5, 8)),
    "dropout": (lambda b, m, t, x: b.dropout(x, t), (5, 8)),
    "embedding": (lambda b, m, t: b.embedding(np.array([3, 1, 3, 6]), m.word, t),),
    "word_scores": (lambda b, m, t, h: b.word_scores(h, m.word, m.word_bias, t), (5, 8)),
    "cross_entropy": (lambda b, m, t, s: b.cross_entropy(s, np.array([2, 0, 2, 1]), t), (4, 3)),
    "attention": (lambda b, m, t, x: b.attention(x, m.layers[0], t), (5, 8)),
    "encoder_layer": (lambda b, m, t, x: b.encoder_layer(x, m.layers[0], t), (5, 8)),
    "bert": (lambda b, m, t: b.bert(SEQUENCE, m, t),),
}


def prove(name, bert, num_layers=2):
    """Of one layer, by the floats that it is given and by every parameter of a small model."""
    call, *shapes = LAYERS[name]
    rng = np.random.default_rng(0)
    model = bert.Bert(7, rng, D=8, H=2, F=5, L=num_layers, longest=9)
    given = [rng.standard_normal(shape) for shape in shapes]

    def forward(*arrays):
        for parameter, value in zip(model.parameters, arrays[len(given) :], strict=True):
            parameter.value = value
        tape = bert.Tape(0.2, np.random.default_rng(1))
        return call(bert, model, tape, *arrays[: len(given)]), tape

    def backward(dy, *arrays):
        for parameter, value in zip(model.parameters, arrays[len(given) :], strict=True):
            parameter.grad = np.zeros_like(value)
        for _ in range(2):  # gradients are added, and never set: half of two is one
            _, tape = forward(*arrays)
            dx = getattr(bert, f"{name}_backward")(*as_tuple(dy), tape)
            assert not tape
        return (*as_tuple(dx), *(parameter.grad / 2 for parameter in model.parameters))

    return prove_vjp(lambda *arrays: forward(*arrays)[0], backward, *given, *(each.value for each in model.parameters))


def as_tuple(value):
    return () if value is None else value if isinstance(value, tuple) else (value,)


def test_no_backward_is_left_out():
    backwards = set(re.findall(r"^def (\w+)_backward", SOURCE, re.MULTILINE))
    assert LAYERS.keys() == backwards == {name for name, *_ in PLANTED}


@pytest.mark.parametrize("name", LAYERS)
def test_a_backward_is_proved(name):
    proof = prove(name, read())
    assert proof.verdict == PROVED, str(proof)


PLANTED = [
    ("linear", "W.grad += x.T @ dy", "W.grad += x.T @ dy / len(x)"),
    ("linear", "W.grad += x.T @ dy", "W.grad[...] = x.T @ dy"),
    ("gelu", "area + x * curve", "area"),
    ("layer_norm", "- shift - x_hat * stretch", "- shift"),
    ("dropout", "return dy * tape.pop()", "return dy * (tape.pop() > 0)"),
    ("embedding", "np.add.at(W.grad, ids, dy)", "W.grad[ids] += dy"),
    ("word_scores", "E.grad += ds.T @ h", "E.grad += 0"),
    ("cross_entropy", "return dloss * (p", "return (p"),
    ("attention", "dp - (dp * p).sum(axis=-1, keepdims=True)", "dp - dp * p"),
    ("attention", " + linear_backward(dk, tape)", " + 0 * linear_backward(dk, tape)"),
    ("encoder_layer", "dh = dsum + linear_backward", "dh = linear_backward"),
    ("bert", " * (1 - pooled * pooled)", ""),
    ("bert", "dh[sequence.masked] = linear", "dh[1:] = linear"),
]


@pytest.mark.parametrize(("name", "right", "wrong"), one_in(4, PLANTED))
def test_a_planted_bug_is_refuted(name, right, wrong):
    assert SOURCE.count(right) == 1
    assert prove(name, read(SOURCE.replace(right, wrong)), num_layers=1).verdict == REFUTED


def test_it_stands_alone_and_is_short():
    assert len(SOURCE.splitlines()) <= 375
    imports = [node for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in imports}
    assert names == {"math", "os", "types", "numpy"}


def test_the_table_in_the_docs_has_every_part_and_what_became_of_it():
    page = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*) \| (\[.*) \| .* \|$", page, re.MULTILINE)
    named = [name for parts, _ in rows for name in re.findall(r"`(\w+)`", parts)]
    assert named == [name for name in defined_in(ROOT / "docs" / "bert.py") if not name.endswith("_backward")]
    for name, path in re.findall(r"\[(\w+)\]\(\.\./npbert/([^)]+)\)", str(rows)):
        assert name in defined_in(Path(npbert.__file__).parent / path), f"{name} is not in {path}"


def defined_in(path):
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)]


@pytest.mark.thorough
def test_it_says_what_it_learns(tmp_path):
    """Of a smaller model, in 50 steps; the file takes 400."""
    source = SOURCE.replace("train(model, 400,", "train(model, 50,").replace(
        "rng)\n    print", "rng, D=64, F=64)\n    print"
    )
    (tmp_path / "bert.py").write_text(source, encoding="utf-8")
    out = subprocess.run([sys.executable, "bert.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    guessing, learned = re.findall(r"^(?:guessing|step  50) +(\d\.\d\d) +(\d\.\d\d)$", out, re.MULTILINE)
    assert guessing == ("3.69", "0.69") and float(learned[0]) < 3.2
    assert len(re.findall(r" -> [a-z, ]+ \(\d+%\)$", out, re.MULTILINE)) == 8
