"""docs/bert.py: it trains as the library does, each of its backwards is proved, and what the docs say of it is true."""

import ast
import re
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
from tests.test_docs import ROOT

SOURCE = (ROOT / "docs" / "bert.py").read_text(encoding="utf-8")
SEQUENCE = SimpleNamespace(  # some words twice, and of two rows that are read one is [CLS]'s neighbor
    ids=np.array([1, 4, 3, 2, 6, 4, 2]),
    segments=np.array([0, 0, 0, 0, 1, 1, 1]),
    masked=np.array([1, 2, 5]),
    targets=np.array([2, 6, 2]),
    label=[1],
)
BATCH, STEPS, LR = 4, 24, 5e-3


def read(source=SOURCE):
    module = ModuleType("bert")
    exec(compile(source, "docs/bert.py", "exec"), vars(module))
    module.erf = erf  # of arrays of the proof's numbers, too, where Python's takes floats alone
    return module


def test_it_trains_as_the_library_does():
    """From the same seed, on the same sequences: all losses, and the parameters at the end."""
    bert, drawn = read(), []
    assert (*load_dialogue(9).text,) == (*bert.DIALOGUE.splitlines(),)
    draw = bert.draw_sequence
    bert.draw_sequence = lambda rng: drawn.append(draw(rng)) or drawn[-1]
    rng = np.random.default_rng(7)
    ours = bert.Bert(len(bert.WORDS), rng, D=32, H=4, F=64)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = BertConfig(vocab_size=len(bert.WORDS), max_position_embeddings=30, **sizes, **dropout)
    theirs = BertForPreTraining(config, rng=np.random.default_rng(7), dtype=np.float64)

    our_losses = list(bert.train(ours, STEPS, LR, 0.0, rng, BATCH))
    their_losses = train_library(theirs, [drawn[i : i + BATCH] for i in range(0, len(drawn), BATCH)])
    assert len(our_losses) == STEPS and np.mean(our_losses[-5:]) < np.mean(our_losses[:5])
    np.testing.assert_allclose(our_losses, their_losses, rtol=1e-12)
    for own, (name, parameter) in zip(ours.parameters, theirs.named_parameters(), strict=True):
        np.testing.assert_allclose(own.value, parameter.value, rtol=0, atol=1e-10 * LR, err_msg=name)


def train_library(model, batches):
    """The losses of each step."""
    optimizer, losses = AdamW(model.parameters()), []
    for step, batch in enumerate(batches):
        model.zero_grad()
        tape = Tape()
        loss = model.loss(collate([*map(example, batch)], pad_id=0), tape)
        losses.append((loss.mlm_loss, loss.nsp_loss))
        model.loss_backward(1.0, tape)
        clip_by_global_norm(optimizer.parameters, 1.0)
        optimizer.lr = linear_warmup_decay(step, lr=LR, warmup_steps=len(batches) // 10, total_steps=len(batches))
        optimizer.step()
    return losses


def example(sequence):
    labels = np.full(len(sequence.ids), IGNORED)
    labels[sequence.masked] = sequence.targets
    return Example(sequence.ids, sequence.segments, labels, sequence.label[0])


def test_dropout_keeps_the_mean():
    bert = read()
    y = bert.dropout(np.ones((1000, 100)), bert.Tape(0.2, np.random.default_rng(0)))
    assert set(y.flat) == {0.0, 1.25} and abs(y.mean() - 1) < 0.01


def prove(bert, num_layers=2):
    """Of both losses, by every parameter of a small model: so every backward of the file is proved."""
    model = bert.Bert(7, np.random.default_rng(0), D=4, H=2, F=3, L=num_layers, longest=9)

    def forward(*values):
        for parameter, value in zip(model.parameters, values, strict=True):
            parameter.value = value
        tape = bert.Tape(0.2, np.random.default_rng(1))
        words, follows = bert.bert(SEQUENCE, model, tape)
        losses = bert.cross_entropy(words, SEQUENCE.targets, tape), bert.cross_entropy(follows, SEQUENCE.label, tape)
        return losses, tape

    def backward(dlosses, *values):
        for parameter, value in zip(model.parameters, values, strict=True):
            parameter.grad = np.zeros_like(value)
        for _ in range(2):  # gradients are added, and never set: half of two is one
            _, tape = forward(*values)
            dfollows, dwords = (bert.cross_entropy_backward(dloss, tape) for dloss in reversed(dlosses))
            bert.bert_backward(dwords, dfollows, tape)
            assert not tape
        return tuple(parameter.grad / 2 for parameter in model.parameters)

    return prove_vjp(lambda *values: forward(*values)[0], backward, *(each.value for each in model.parameters))


def test_every_backward_is_proved():
    proof = prove(read())
    assert proof.verdict == PROVED, str(proof)


PLANTED = [
    ("W.grad += x.T @ dy", "W.grad[...] = x.T @ dy"),
    (" + linear_backward(dk, tape)", " + 0 * linear_backward(dk, tape)"),
]


@pytest.mark.parametrize(("right", "wrong"), PLANTED)
def test_a_planted_bug_is_refuted(right, wrong):
    assert SOURCE.count(right) == 1
    assert prove(read(SOURCE.replace(right, wrong)), num_layers=1).verdict == REFUTED


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
