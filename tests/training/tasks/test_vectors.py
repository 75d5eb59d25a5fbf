"""Vectors of texts: what is read, what is learned, how it is judged, and what comes out."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from npbert import BertModel, Embed
from npbert.io.errors import InputError
from npbert.io.files import FileError
from npbert.io.json_lines import SHOWN_FILE, read_json_lines
from npbert.layers import CoSENT, CosineLoss, InBatchNegatives, TripletLoss
from npbert.models.hugging_face.checkpoint import WEIGHTS_FILE
from npbert.training.finetune import FinetuneSettings, Finetuning, evaluate_checkpoint
from npbert.training.retrieval import retrieval_scores, search
from npbert.training.tasks import TaskSettings, task_class
from tests.training.tiny import write_checkpoint

ANIMALS = {"cat": "sees", "dog": "hears", "cow": "likes", "bird": "finds"}


@pytest.fixture
def settings(tmp_path):
    """Settings for pairs of an animal and what it does, as sentences."""
    pairs = [f"a {animal} .\tthe {animal} {does} .\n" for animal, does in ANIMALS.items()]
    (tmp_path / "pairs.tsv").write_text("".join(pairs * 3), encoding="utf-8")
    model = write_checkpoint(tmp_path / "model", BertModel)
    return FinetuneSettings(
        task="vectors",
        model=str(model),
        train=str(tmp_path / "pairs.tsv"),
        max_length=16,
        batch_size=8,
        steps=30,
        learning_rate=0.02,
    )


@pytest.mark.parametrize(
    ("content", "changes", "error"),
    [
        ("one column\n", {}, "1 column, wanted at least 2"),
        ("a cat\t \n", {}, r"line 1: the text pair is ' ', wanted a text"),
        ("a cat\tit purrs\n\tit barks\n", {}, r"line 2: the text is '', wanted a text"),
        ("a cat\tit purrs\t\n", {"negatives": ("2",)}, r"the negatives is '', wanted a text"),
        ("a\tb\tc\td\na\tb\tc\n", {"negatives": ("2", "3")}, "line 2: 3 columns, wanted at least 4"),
        ("a cat\tit purrs\tfive\n" * 2, {"label": "2"}, r"line 1: the label is 'five', wanted a number"),
        ("a\tb\t5\n", {"label": "2", "loss": "cosine"}, "the label is '5', wanted a cosine"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(settings, tmp_path, content, changes, error):
    (tmp_path / "pairs.tsv").write_text(content, encoding="utf-8")
    with pytest.raises(FileError, match=error):
        Finetuning(replace(settings, **changes), tmp_path / "run")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"loss": "cosent"}, "loss is 'cosent', wanted in-batch or both-ways or triplet; label names the column"),
        ({"loss": "in-batch", "label": "2"}, "wanted cosent or cosine"),
        ({"loss": "hinge"}, "loss is 'hinge', wanted one of in-batch, both-ways, triplet, cosent, cosine"),
        ({"label": "2", "negatives": ("3",)}, "negatives is .*, wanted none with a score"),
        ({"loss": "triplet"}, "negatives is .*, wanted one column for triplets"),
        ({"batch_size": 1}, "batch_size is 1, wanted at least 2: the loss compares the pairs of a batch"),
        ({"batch_size": 1, "label": "2"}, "batch_size is 1, wanted at least 2"),
        ({"prompts": ("a", "b", "c")}, "prompts is .*, wanted at most 2: for the first text, and for the others"),
        ({"pooling": "median"}, "pooling is 'median', wanted one of mean, cls, max"),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_a_file_is_read(changes, error):
    with pytest.raises(InputError, match=error):
        task_class(TaskSettings(task="vectors", **changes))


def test_a_folder_that_does_more_than_npbert_is_refused_unless_a_pooling_is_chosen(settings, tmp_path):
    Embed.from_pretrained(settings.model).save_pretrained(tmp_path / "theirs")
    modules = tmp_path / "theirs" / "modules.json"
    entries = json.loads(modules.read_text(encoding="utf-8"))
    entries.append({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"})
    modules.write_text(json.dumps(entries), encoding="utf-8")
    theirs = replace(settings, model=str(tmp_path / "theirs"))
    with pytest.raises(FileError, match="npbert does not support the module Dense"):
        Finetuning(theirs, tmp_path / "run")
    with pytest.warns(UserWarning, match="the model is used without it"):
        Finetuning(replace(theirs, pooling="mean"), tmp_path / "run")


@pytest.mark.parametrize("name", ["negatives", "prompts", "pooling", "loss"])
def test_what_only_vectors_have_is_refused_elsewhere(name):
    value = {"pooling": "mean", "loss": "cosine"}.get(name, ("2",))
    with pytest.raises(InputError, match=f"{name} is .*, wanted none, as only the task vectors has it"):
        task_class(TaskSettings(**{name: value}))


def test_equal_texts_have_one_number_and_prompts_come_first(settings, tmp_path):
    (tmp_path / "pairs.tsv").write_text("a cat\ta b\tc\nb\ta b\ta cat\n", encoding="utf-8")
    run = Finetuning(replace(settings, negatives=("2",), prompts=("the", "it ")), tmp_path / "run")
    batch = run.task.collate(run.data.examples)
    assert batch.labels.tolist() == [[0, 1, 2], [3, 1, 0]]
    assert batch.input_ids.shape[:2] == (2, 3)
    first = zip(batch.input_ids[0], batch.attention_mask[0], strict=True)
    words = [run.tokenizer.decode(ids[mask == 1]) for ids, mask in first]
    texts = run.tokenizer.encode(["thea cat", "it a b", "it c"])
    assert words == [text.tokens for text in texts]


@pytest.mark.parametrize(
    ("changes", "loss"),
    [
        ({}, InBatchNegatives),
        ({"loss": "both-ways"}, InBatchNegatives),
        ({"label": "2"}, CoSENT),
        ({"label": "2", "loss": "cosine"}, CosineLoss),
        ({"negatives": ("2",), "loss": "triplet"}, TripletLoss),
    ],
)
def test_the_loss_is_as_the_settings_say(settings, tmp_path, changes, loss):
    (tmp_path / "pairs.tsv").write_text("a cat\tit purrs\t0.5\na dog\tit barks\t1\n", encoding="utf-8")
    run = Finetuning(replace(settings, **changes), tmp_path / "run")
    assert type(run.model.loss_function) is loss
    assert getattr(run.model.loss_function, "both_ways", False) is (changes.get("loss") == "both-ways")


def test_it_learns_what_belongs_together_and_saves_what_a_search_reads(settings, tmp_path):
    held_out = replace(settings, held_out=settings.train)
    with pytest.warns(UserWarning, match="4 of 4 rows"):
        run = Finetuning(held_out, tmp_path / "run")
    assert "pairs.tsv: 12 examples, 8 of them repeat others" in run.summary()
    before = run.baselines
    found = run.trainer.train()
    assert found["mrr_at_10"] == found["recall_at_1"] == 1 > before["mrr_at_10"]
    assert found["loss"] < before["loss"] / 2
    folder = tmp_path / "run" / "model"
    assert evaluate_checkpoint(folder, settings.train, settings) == pytest.approx(found, rel=1e-5)
    embed, queries = Embed.from_pretrained(folder), [f"a {animal} ." for animal in ANIMALS]
    texts = [f"the {animal} {does} ." for animal, does in ANIMALS.items()]
    hits = embed.semantic_search(queries, texts, top_k=1)
    assert [hit[0].corpus_id for hit in hits] == [0, 1, 2, 3]
    assert (embed.pooling, embed.normalize, embed.max_length) == ("mean", False, 16)
    (*_, shown) = read_json_lines(tmp_path / "run" / SHOWN_FILE)
    assert (shown["kind"], shown["examples"], shown["wrong"], shown["baselines"]) == ("search", 4, 0, before)


def test_a_report_shows_what_is_found_first(settings, tmp_path):
    with pytest.warns(UserWarning, match="4 of 4 rows"):
        run = Finetuning(replace(settings, held_out=settings.train), tmp_path / "run")
    given, e = [example.given for example in run.held_out[:4]], np.eye(4)
    row = run.task.report_row([e[[0, 1]], e[[1, 0]], e[[2, 2]], e[[3, 3]]], run.held_out[:4])
    assert (row["kind"], row["examples"], row["wrong"]) == ("search", 4, 2)
    (first, one), (second, two) = given[:2]
    assert row["worst"] == [
        {"texts": first, "true": one, "predicted": two},
        {"texts": second, "true": two, "predicted": one},
    ]


def test_the_pooling_is_the_folders_own_unless_another_is_asked_for(settings, tmp_path):
    embed = Embed.from_pretrained(settings.model, pooling="cls", normalize=True)
    embed.save_pretrained(tmp_path / "theirs")
    for changes, pooling in (({}, "cls"), ({"pooling": "max"}, "max")):
        run = Finetuning(replace(settings, model=str(tmp_path / "theirs"), **changes), tmp_path / "run")
        assert (run.task.embed().pooling, run.task.embed().normalize) == (pooling, True)
        example = run.data.examples[0]
        vectors, (found,) = run.task.embed()(list(example.given)), run.task.predict([example])
        np.testing.assert_allclose(found, vectors, rtol=1e-5, atol=1e-6)


def test_scores_are_learned_in_their_order(settings, tmp_path):
    rows = "a cat .\tthe cat .\t5\na cat .\tthe dog .\t3\na bird .\tit rains .\t0\na dog .\ta .\t1\n"
    (tmp_path / "pairs.tsv").write_text(rows, encoding="utf-8")
    with pytest.warns(UserWarning, match="4 of 4 rows"):
        run = Finetuning(replace(settings, label="2", held_out=settings.train), tmp_path / "run")
    numbers = run.trainer.train()
    assert numbers["spearman"] == pytest.approx(1)
    assert numbers["loss"] < run.baselines["loss"]


def test_a_search_is_scored_by_the_places_of_what_belongs_to_the_query():
    found = retrieval_scores([[3, 1, 0], [2, 0, 1], [4, 5]], [{1}, {2, 1}, {0}])
    wanted_ndcg = (1 / math.log2(3) + (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)) + 0) / 3
    assert found == {
        "recall_at_1": pytest.approx((0 + 1 / 2 + 0) / 3),
        "recall_at_10": pytest.approx((1 + 1 + 0) / 3),
        "mrr_at_10": pytest.approx((1 / 2 + 1 + 0) / 3),
        "ndcg_at_10": pytest.approx(wanted_ndcg),
    }
    assert retrieval_scores([list(range(20))], [{15}])["recall_at_10"] == 0


def test_a_text_that_is_there_twice_is_searched_once():
    e = np.eye(4)
    vectors = {"q": e[0], "r": e[2], "a": e[0], "x": e[1], "b": e[2], "c": e[0] + e[1]}
    groups = [("q", "a", "x"), ("r", "b", "a"), ("q", "c", "x"), ("q", "a", "x")]
    assert search(groups, vectors) == [
        ("q", ["a", "c"], ["a", "c", "x", "b"], pytest.approx(1)),
        ("r", ["b"], ["b", "a", "x", "c"], pytest.approx(1)),
    ]


def test_the_weights_alone_are_berts(settings, tmp_path):
    """So that every program that reads a BERT reads the model."""
    run = Finetuning(settings, tmp_path / "run")
    run.save(tmp_path / "saved")
    assert (tmp_path / "saved" / WEIGHTS_FILE).is_file()
    BertModel.from_pretrained(tmp_path / "saved", add_pooling_layer=False)
