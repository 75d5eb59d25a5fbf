"""finetune, of lists: as from a file; and what is wrong is said of lists, before anything is read or written."""

import pickle
import re
import warnings

import numpy as np
import pytest

import npbert
from npbert.io.errors import InputError, InputWarning
from npbert.io.files import FileError
from npbert.training.finetune import FinetuneSettings, Finetuning
from npbert.training.settings import SETTINGS_FILE, load_settings
from tests.training.tiny import assert_same, values, write_checkpoint, write_labelled


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    checkpoint = write_checkpoint(tmp_path_factory.mktemp("models") / "checkpoint")
    return {"model": checkpoint, "steps": 1, "max_length": 20, "batch_size": 4}


@pytest.mark.filterwarnings("ignore:.* has .* rows of")
def test_as_from_a_file(tmp_path, options):
    """Pairs and numbers, too. A run goes on, and takes no other examples."""
    rows = write_labelled(tmp_path / "train.tsv")
    texts, labels = zip(*(line.split("\t") for line in rows.read_text().splitlines()), strict=True)
    held_out, folder = (texts, labels), tmp_path / "of" / "lists"
    classify = npbert.finetune(iter(texts), iter(labels), folder=folder, held_out=held_out, **options)
    run = Finetuning(FinetuneSettings(train=rows, held_out=rows, **options), tmp_path / "file")
    run.trainer.train()
    assert_same(values(classify.model), values(npbert.Classify.from_pretrained(tmp_path / "file").model))
    assert classify(texts[0]).label in ("no", "yes")
    with pytest.raises(FileError, match=r"train.jsonl has other examples; for a new run, choose another folder"):
        npbert.finetune(texts[1:], labels[1:], folder=folder, **options)
    again = {"folder": folder, "overwrite": True, "held_out": 0.25, **options}
    npbert.finetune(texts[1:], labels[1:], **again)
    counts = [len((folder / name).read_text().splitlines()) for name in ("train.jsonl", "held_out.jsonl")]
    assert counts == [17, 6]
    for share in (0.0, 1.0, float("nan")):
        with pytest.raises(InputError, match=f"held_out is .*{share}.*, wanted a share of the 24 texts"):
            npbert.finetune(texts, labels, **{**again, "held_out": share})
    pairs = [(text, "a dog .") for text in texts]
    score = npbert.finetune(pairs, [float(len(text)) for text in texts], folder=tmp_path / "pairs", **options)
    assert isinstance(score(pairs[0]), float)


TEXTS = [f"a dog {number}" for number in range(12)]
YES = ["no", "yes"] * 6
LABEL = "sonnet 18, line 10; --label says which column"  # which looks like a part of an error
SAID = [
    (TEXTS[:2], ["no", ""], {}, "the training list, row 1: the label is '', wanted a label"),
    (TEXTS[:2], ["no", "no"], {}, "the training list: all labels are 'no', wanted at least two different ones"),
    (TEXTS[:2], ["no"], {}, "the training list: 2 texts and 1 labels, wanted one for each, and at least one"),
    ([], [], {}, "the training list: 0 texts and 0 texts, wanted one for each, and at least one"),
    (TEXTS, YES, {"held_out": (TEXTS, [])}, "the held-out list: 12 texts and 0 labels, wanted one for each, and *"),
    (
        TEXTS,
        YES,
        {"held_out": (TEXTS[:2], ["no", LABEL])},
        f"the held-out list, row 1: the label is '{LABEL[:29]}…', *",
    ),
    (TEXTS, YES, {"held_out": (TEXTS[:1], ["no"])}, "the training list has 1 of 1 row of the held-out list in it: *"),
    ([f"{n}" for n in range(202)], [f"a {n}" for n in range(202)], {}, "the training list: 202 * (202 in all)"),
    (["a", ("b", "c")], ["no", "yes"], {}, "the training list, row 1: ('b', 'c'), wanted a text, as the first is"),
    ([("b", "c"), ("b", "c", "d")], ["no", "yes"], {}, "the training list, row 1: ('b', 'c', 'd'), wanted a pair of *"),
    (["a", float("nan")], ["no", "yes"], {}, "the training list, row 1: nan, wanted a text, as the first is"),
    (["a", "b"], ["no", float("nan")], {}, "the training list, row 1: the label is nan, wanted one for each text"),
    (["a", "b \ud83d"], ["no", "yes"], {}, "the training list, row 1: not valid JSON: half of a character, '\\ud83d'"),
    (TEXTS, YES, {"positive": "x"}, "positive is 'x', wanted one of the labels: 'no', 'yes'"),
    (TEXTS, YES, {"task": "ner"}, "task is 'ner', wanted classification, regression or vectors"),
    (TEXTS, YES, {"max_length": 99}, "max_length is 99, wanted at most 32 for this model"),
    ([" ".join(["cat"] * 40), *TEXTS], ["no", *YES], {}, "the training list: 1 of 13 texts is longer than the 20 *"),
]


@pytest.mark.parametrize(("texts", "labels", "changes", "said"), SAID)
def test_it_speaks_of_lists_and_leaves_nothing(tmp_path, options, texts, labels, changes, said):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((InputError, InputWarning)) as stopped:
            npbert.finetune(texts, labels, folder=tmp_path / "a" / "run", **{**options, **changes})
    begin, _, end = said.partition("*")
    message = str(stopped.value)
    assert message.startswith(begin) and message.endswith(end) and (end or "*" in said or message == begin), message
    assert not any(word in message for word in ("--", "jsonl", "line ")) or LABEL[:20] in message
    assert str(pickle.loads(pickle.dumps(stopped.value))) == message
    if isinstance(stopped.value, InputError):
        assert not any(path.is_file() for path in tmp_path.rglob("*"))


OWN = [2.0, 0.0, 1.0, 0.5] * 3


@pytest.mark.parametrize(
    ("more", "wanted"),
    [({"class_weight": "balanced"}, [2 / 3, 2 / 3, 2 / 3, 2]), ({"class_weight": {"yes": 3}}, [1, 1, 1, 3]),
     ({"sample_weight": OWN}, OWN[:4]), ({"sample_weight": OWN, "class_weight": {"yes": 3}}, [2, 0, 1, 1.5]),
     ({}, [1] * 4)],
)  # fmt: skip
def test_a_label_or_a_text_may_count_more(tmp_path, options, more, wanted):
    """The loss is the mean of the losses of the texts, each as many times as it counts."""
    labels = ["no", "no", "no", "yes"] * 3
    npbert.finetune(TEXTS, labels, folder=tmp_path, held_out=(["a cat"], ["no"]), **options, **more)
    run = Finetuning(load_settings(FinetuneSettings, tmp_path / SETTINGS_FILE), tmp_path)
    examples = run.data.examples
    batch = run.task.collate(examples)
    assert batch.sample_weight.tolist() == pytest.approx(wanted * 3)
    losses = [float(run.model.loss(run.task.collate([each._replace(weight=1.0)])).loss) for each in examples]
    assert float(run.model.loss(batch).loss) == pytest.approx(np.mean(batch.sample_weight * losses), rel=1e-5)


WRONG_WEIGHTS = [
    ({"class_weight": "even"}, "class_weight is 'even', wanted balanced, or label=weight"),
    ({"sample_weight": [1.0]}, "the training list: 12 texts and 1 sample_weights, wanted one for each, and at least"),
    ({"sample_weight": [1, -1] * 6}, "the training list, row 1: the sample weight is '-1', wanted a number from 0 on"),
    ({"sample_weight": [1, 1, float("nan"), 1] * 3}, "the training list, row 2: the sample_weight is nan, wanted"),
    ({"sample_weight": OWN, "task": "regression"}, "sample_weight is 'sample_weight', wanted none, as only class"),
    ({"validation_split": 0.2}, "unknown setting validation_split; did you mean held_out?"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG_WEIGHTS)
def test_wrong_weights_are_refused_by_name(tmp_path, options, wrong, said):
    with pytest.raises((InputError, TypeError), match=re.escape(said)):
        npbert.finetune(TEXTS, YES, folder=tmp_path / "wrong", **options, **wrong)


def test_vectors_of_pairs_of_more_texts_and_of_scores(tmp_path, options):
    pairs = [(f"the {animal} .", f"a {animal} .") for animal in ("cat", "dog", "cow", "bird")]
    of_vectors = {"task": "vectors", **options}
    given = {"pairs": (pairs, None), "scores": (pairs, [0.1, 0.5, 0.9, 0.3])}
    given["negatives"] = [(*pair, "a fish .", "a goat .") for pair in pairs], None
    held_out = {"pairs": [("a", "b"), ("a b", "c"), ("c", "a")]}
    for name, (texts, scores) in given.items():
        judged_by = held_out.get(name, 0.5)
        embed = npbert.finetune(texts, scores, folder=tmp_path / name, held_out=judged_by, **of_vectors)
        assert embed("a dog .").shape == (8,)
    with pytest.raises(TypeError, match="labels is missing, wanted one for each text"):
        npbert.finetune(pairs, folder=tmp_path / "none", **options)
    with pytest.raises(InputError, match=r"the training list, row 1: .*, wanted a pair of texts, as the first is"):
        npbert.finetune([pairs[0], (*pairs[1], "c")], folder=tmp_path / "odd", **of_vectors)
    with pytest.raises(InputError, match="the training list, row 0: the text pair is ' ', wanted a text"):
        npbert.finetune([("a", " "), *pairs], folder=tmp_path / "empty", **of_vectors)
    with pytest.raises(InputError, match="texts is 'a', wanted pairs: a query, and its matching text"):
        npbert.finetune(["a", "b"], folder=tmp_path / "texts", **of_vectors)
    with pytest.raises(InputError, match="task is 'tagging', wanted classification, regression or vectors"):
        npbert.finetune(["a"], ["b"], folder=tmp_path / "tags", **{**options, "task": "tagging"})
