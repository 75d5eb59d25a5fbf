"""Things to train on that are read and learned in milliseconds: a language of 30 words, a BERT of 8 features."""

import itertools
import json
from dataclasses import replace
from hashlib import sha256
from types import SimpleNamespace

import numpy as np

from npbert import Batch, BertConfig, BertForPreTraining, BertForSequenceClassification
from npbert.data.batch import TaskData
from npbert.io.lines import LAYERS_FILE, METRICS_FILE, SHOWN_FILE
from npbert.models.hugging_face.tensors import TensorFile
from npbert.training import STATE_FILE, Evaluation, Trainer, TrainerSettings
from tests.later import needs

NOUNS = ["cat", "dog", "bird", "fish", "horse", "mouse", "cow", "goat"]
VERBS = ["sees", "hears", "likes", "fears", "finds", "meets"]
ADJECTIVES = ["good", "bad", "old", "young", "red", "green", "kind", "mean"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", ".", *NOUNS, *VERBS, *ADJECTIVES]
RESULTS = (STATE_FILE, METRICS_FILE, LAYERS_FILE, SHOWN_FILE, "model/model.safetensors", "model/config.json")
"""The files of a run that are the same, byte for byte, however often it was stopped."""

TINY = BertConfig(len(VOCABULARY), 8, 2, 2, 12, max_position_embeddings=32, initializer_range=0.2)
"""D = 8, H = 2, two layers, dropout 0.1."""


def needs_the_extra_train():
    """Skip the test, or the module, where something is missing that a run needs."""
    for module in ("safetensors", "tomlkit", "filelock", "tqdm", "tensorboard", "matplotlib"):
        needs(module, "-e '.[train]'")


def sentence(rng):
    adjective, noun, verb, other = (rng.choice(words) for words in (ADJECTIVES, NOUNS, VERBS, NOUNS))
    return f"the {adjective} {noun} {verb} a {other} ."


def write_corpus(path, *, documents=6, seed=0):
    """Documents of five sentences."""
    rng = np.random.default_rng(seed)
    texts = ["\n".join(sentence(rng) for _ in range(5)) for _ in range(documents)]
    path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return path


def write_labelled(path, *, rows=24, seed=0):
    """Sentences with a label: whether the first adjective is one of four."""
    rng = np.random.default_rng(seed)
    texts = [sentence(rng) for _ in range(rows)]
    labels = ["yes" if text.split()[1] in ADJECTIVES[::2] else "no" for text in texts]
    path.write_text("".join(f"{text}\t{label}\n" for text, label in zip(texts, labels, strict=True)), encoding="utf-8")
    return path


def write_checkpoint(folder, model_class=BertForPreTraining, **changes):
    """A BERT, by default for pre-training, with its vocabulary."""
    needs_the_extra_train()
    model_class(replace(TINY, **changes), rng=np.random.default_rng(1)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in VOCABULARY), encoding="utf-8")
    return folder


def classifier(dtype=np.float32, **changes):
    return BertForSequenceClassification(replace(TINY, **changes), rng=np.random.default_rng(2), dtype=dtype)


def collate(rows):
    return Batch(np.array([ids for ids, _ in rows]), labels=np.array([label for _, label in rows]))


def examples(count=20, seed=0):
    """Sequences of six tokens; the label says which half of the vocabulary the second one is from."""
    ids = np.random.default_rng(seed).integers(5, len(VOCABULARY), (count, 6))
    return [(row.tolist(), int(row[1] >= len(VOCABULARY) // 2)) for row in ids]


def task_data(step=0, act=None, collate=collate, size=4):
    """Twenty examples, in batches of `size`; before number `step` of this process, from 1 on, `act` is called."""
    numbers = itertools.count(1)

    def batches(*where):
        for item in TaskData(examples(), collate, size).batches(*where):
            if next(numbers) == step:
                act()
            yield item

    return SimpleNamespace(batches=batches)


def make_trainer(folder, *, data=None, model=None, seed=0, **options):
    """A Trainer of a classifier; options that are no settings go to its Evaluation, or to the Trainer itself."""
    needs_the_extra_train()
    names = TrainerSettings.__dataclass_fields__
    settings = {"steps": 12, "learning_rate": 1e-2, "log_every": 1}
    settings |= {name: options.pop(name) for name in list(options) if name in names}
    judged = {name: options.pop(name) for name in list(options) if name in Evaluation.__dataclass_fields__}
    options["evaluation"] = Evaluation(**judged) if judged else None
    model, data = model or classifier(), task_data() if data is None else data
    return Trainer(model, data, folder, TrainerSettings(**settings), rng=np.random.default_rng(seed), **options)


def values(model):
    return [parameter.value.copy() for parameter in model.parameters()]


def assert_same(ours, theirs):
    for one, another in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, another)


def saved_step(folder):
    """The step of the state of a run."""
    return json.loads(TensorFile(folder / STATE_FILE).metadata["npbert"])["steps"]


def results(folder):
    """What a run leaves: text as it is, and of tensors their hash, so that a difference is reported in a line."""
    files = {name: (folder / name).read_bytes() for name in RESULTS if (folder / name).exists()}
    return {name: sha256(data).hexdigest() if "tensors" in name else data for name, data in files.items()}
