"""finetune, of lists: as from a file; and what is wrong is said of lists, before anything is read or written."""

import pickle

import pytest

import npbert
from npbert.io.files import FileError
from npbert.training import SETTINGS_FILE, FinetuneSettings, Finetuning, load_settings
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
    pairs = [(text, "a dog .") for text in texts]
    score = npbert.finetune(pairs, [float(len(text)) for text in texts], folder=tmp_path / "pairs", **options)
    assert isinstance(score(pairs[0]), float)


TEXTS = [f"a dog {number}" for number in range(12)]
YES = ["no", "yes"] * 6
OWN = [2.0, 0.0, 1.0, 0.5] * 3
NAN = float("nan")
SAID = [
    (TEXTS[:2], ["no", ""], {}, "the training list, row 1: the label is '', wanted a label"),
    (TEXTS[:2], ["no", "no"], {}, "the training list: all labels are 'no', wanted at least two classes"),
    (TEXTS[:2], ["no"], {}, "zip() argument 2 is shorter than argument 1"),
    (TEXTS, None, {}, "labels is missing, wanted one for each text"),
    (TEXTS, YES, {"held_out": (TEXTS[:2], ["no", "maybe"])}, "the held-out list, row 1: the label is 'maybe', *"),
    *((TEXTS, YES, {"held_out": share}, f"held_out is {share}, wanted a share of the *") for share in (0.0, 1.0, NAN)),
    (
        [("b", "c"), ("b", "c", "d")],
        ["no", "yes"],
        {},
        "the training list, row 1: ('b', 'c', 'd'), wanted a text, or as *",
    ),
    (["a", NAN], ["no", "yes"], {}, "the training list, row 1: nan, wanted a text, or as many as in the first row"),
    (["a", "b"], ["no", NAN], {}, "the training list, row 1: column 'label' is missing, wanted one of 'text'"),
    (TEXTS, YES, {"task": "ner"}, "task is 'ner', wanted classification, regression or vectors"),
    (TEXTS, YES, {"sample_weight": [1, -1] * 6}, "the training list, row 1: the sample weight is '-1', wanted a *"),
    ([("a", " "), ("b", "c")], None, {"task": "vectors"}, "the training list, row 0: the text pair is ' ', wanted a *"),
]


@pytest.mark.parametrize(("texts", "labels", "changes", "said"), SAID)
def test_it_speaks_of_lists_and_leaves_nothing(tmp_path, options, texts, labels, changes, said):
    with pytest.raises((ValueError, TypeError)) as stopped:
        npbert.finetune(texts, labels, folder=tmp_path / "a" / "run", **{**options, **changes})
    message = str(stopped.value)
    assert message == said or (said.endswith("*") and message.startswith(said[:-1])), message
    assert str(pickle.loads(pickle.dumps(stopped.value))) == message
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"class_weight": "balanced"}, [2 / 3, 2 / 3, 2 / 3, 2]),
        ({"sample_weight": OWN, "class_weight": {"yes": 3}}, [2, 0, 1, 1.5]),
    ],
)
def test_a_label_or_a_text_may_count_more(tmp_path, options, more, wanted):
    labels = ["no", "no", "no", "yes"] * 3
    npbert.finetune(TEXTS, labels, folder=tmp_path, held_out=(["a cat"], ["no"]), **options, **more)
    run = Finetuning(load_settings(FinetuneSettings, tmp_path / SETTINGS_FILE), tmp_path)
    assert run.task.collate(run.data.examples).sample_weight.tolist() == pytest.approx(wanted * 3)


def test_vectors_of_pairs_of_more_texts_and_of_scores(tmp_path, options):
    pairs = [(f"the {animal} .", f"a {animal} .") for animal in ("cat", "dog", "cow", "bird")]
    of_vectors = {"task": "vectors", **options}
    more = [(*pair, "a fish .", "a goat .") for pair in pairs]
    for number, (texts, scores, held_out) in enumerate(
        [(pairs, None, [("a", "b"), ("a b", "c")]), (pairs, [0.1, 0.5, 0.9, 0.3], 0.5), (more, None, 0.5)]
    ):
        embed = npbert.finetune(texts, scores, folder=tmp_path / str(number), held_out=held_out, **of_vectors)
        assert embed("a dog .").shape == (8,)
    assert load_settings(FinetuneSettings, tmp_path / "2" / SETTINGS_FILE).negatives == ("negative_2", "negative_3")
