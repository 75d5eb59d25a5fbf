"""Programs as users write them, with the types that they count on. They are checked, by mypy and pyright, both
strict, and never run: each `assert_type` fails for another type than this, and so for Any."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import npbert
from npbert.compute import Array
from npbert.gradcheck import Proof, Report, prove_vjp
from npbert.inference import AnswerSpan, Hit, Label, Prediction, TaggedText, semantic_search
from npbert.models import BertOutput, TaskLoss
from npbert.training import Pretraining, PretrainSettings, accuracy

if TYPE_CHECKING:
    from typing_extensions import assert_type

rng = np.random.default_rng(0)
config = npbert.BertConfig.preset("bert-tiny", vocab_size=100)
batch = npbert.Batch(np.ones((2, 3), int), labels=np.array([0, 1]))


def use_tasks(texts: list[str], pairs: list[str | tuple[str, str]]) -> None:
    fill = npbert.FillMask.from_pretrained("folder")
    assert_type(fill("a [MASK]", top_k=3), list[list[Prediction]])
    assert_type(fill(texts)[0][0][0].token, str)
    assert_type(fill.model, npbert.BertForMaskedLM)
    classify = npbert.Classify.from_pretrained("folder")
    assert_type(classify("a text"), Label | float)
    assert_type(classify(pairs), list[Label | float])
    tagged = npbert.Tag.from_pretrained("folder")("Ada wrote it.")
    assert_type(tagged, TaggedText)
    assert_type([(word.word, word.tag) for word in tagged.words], list[tuple[str, str]])
    found = npbert.Answer.from_pretrained("folder")("Who wrote it?", "Ada wrote it.")
    assert_type(found, AnswerSpan)
    assert_type(found.text, str)


def embed_and_search(texts: list[str]) -> None:
    embed = npbert.Embed.from_pretrained(Path("folder"), pooling="cls")
    assert_type(embed(texts), Array)
    assert_type(embed.similarity(texts, "another"), Array)
    assert_type(embed.model.config.hidden_size, int)
    assert_type(embed.semantic_search("a query", texts, top_k=2)[0], list[Hit])
    assert_type(semantic_search(embed(["a query"]), embed(texts))[0][0].corpus_id, int)


def read_hidden_states() -> None:
    output = npbert.BertModel.from_pretrained("folder", dtype=np.float64)(batch)
    assert_type(output, BertOutput)
    assert_type(output.last_hidden_state, Array)
    assert_type(output.pooler_output, Array | None)


def train(texts: list[str], labels: list[str]) -> None:
    classify = npbert.finetune(texts, labels, model="folder", folder="run", held_out=(texts, labels), epochs=2)
    assert_type(classify, npbert.Classify)
    settings = PretrainSettings(corpus=("books",), vocabulary="vocabulary", steps=10)
    assert_type(Pretraining(settings, "run").trainer.train(), dict[str, float])


def train_by_hand() -> None:
    model = npbert.BertForSequenceClassification(config, rng=rng)
    optimizer = npbert.AdamW(model.parameters(), lr=1e-3)
    tape = npbert.Tape(rng)
    losses = model.loss(batch, tape)
    assert_type(losses, TaskLoss)
    assert_type(losses.loss, float)
    model.loss_backward(1.0, tape)
    assert_type(npbert.clip_by_global_norm(model.parameters(), 1.0), float)
    optimizer.lr = npbert.linear_warmup_decay(0, lr=1e-3, warmup_steps=1, total_steps=2)
    optimizer.step()


class Scale(npbert.Layer):
    """y = a x"""

    def __init__(self, features: int, init: npbert.Init) -> None:
        self.a = init.ones(features)

    def forward(self, x: Array, tape: npbert.Tape = npbert.NO_TAPE) -> Array:
        tape.keep(self, x=x)
        return self.a.value * x

    def backward(self, dy: Array, tape: npbert.Tape) -> Array:
        x: Array = tape.take(self)
        self.a.add_grad((dy * x).sum(axis=0))
        return self.a.value * dy


def write_a_layer_and_check_it() -> None:
    layer = Scale(4, npbert.Init(rng, dtype=np.float64))
    npbert.randomize(layer, rng)
    assert_type(layer.a, npbert.Parameter)
    assert_type(layer(np.ones((2, 4))), Array)
    report = npbert.check_gradients(layer, np.ones((2, 4)))
    assert_type(report, Report)
    assert_type(report.ok, bool)


def prove_a_function() -> None:
    def f(x: Array) -> Array:
        return x * x

    def vjp(x: Array, dy: Array) -> Array:
        return 2 * x * dy

    assert_type(prove_vjp(f, vjp, np.ones((2, 3))), Proof)


def look_at_parameters(layers: Iterable[npbert.Layer]) -> None:
    for layer in layers:
        assert_type(layer.parameters(), list[npbert.Parameter])
        assert_type(sum(each.value.size for each in layer.parameters()), int)
        for name, parameter in npbert.core.named_parameters(layer):
            assert_type(name, str)
            assert_type(parameter, npbert.Parameter)


def measure() -> None:
    npbert.set_num_threads(2)
    assert_type(npbert.num_threads(), int)
    assert_type(npbert.global_norm([]), float)
    assert_type(accuracy(np.array([0, 1]), np.array([0, 1])), float)
