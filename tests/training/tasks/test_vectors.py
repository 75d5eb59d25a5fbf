"""Vectors of texts: what is read, what is learned, how it is judged, and what comes out."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from npbert import BertModel, CoSENT, CosineLoss, Embed, InBatchNegatives, TripletLoss
from npbert.io.errors import InputError
from npbert.training.finetune import FinetuneSettings, Finetuning, evaluate_files
from npbert.training.tasks import Labelled
from npbert.training.tasks.vectors import SentenceVectors, retrieval_scores
from tests.training.tiny import write_checkpoint

ANIMALS = {"cat": "sees", "dog": "hears", "cow": "likes", "bird": "finds"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("model"), BertModel)


@pytest.fixture
def run_of(model, tmp_path):
    """run_of("a query\tits text\n", loss="both-ways"): a run that learns from this file."""

    def run_of(content, **changes):
        (tmp_path / "pairs.tsv").write_text(content, encoding="utf-8")
        usual = {"task": "vectors", "model": str(model), "train": str(tmp_path / "pairs.tsv"), "batch_size": 8}
        usual |= {"max_length": 16, "steps": 30, "learning_rate": 0.02, "evaluate_every": 30}
        settings = FinetuneSettings(**{**usual, **changes})
        return Finetuning(settings, tmp_path / "run")

    return run_of


@pytest.mark.parametrize(
    ("content", "changes", "error"),
    [
        ("one column\n", {}, "column '1' is missing"),
        ("a cat\tit purrs\n\tit barks\n", {}, "line 2: the text is '', wanted a text"),
        ("a cat\tit purrs\t\n", {"negatives": ("2",)}, "the negatives is '', wanted a text"),
        ("a cat\tit purrs\tfive\n" * 2, {"label": "2"}, "line 1: the label is 'five', wanted a number"),
        ("a\tb\t5\n", {"label": "2", "loss": "cosine"}, "the label is '5', wanted a cosine"),
        ("", {"loss": "cosent"}, "loss is 'cosent', wanted in-batch or both-ways or triplet; label names the column"),
        ("", {"loss": "in-batch", "label": "2"}, "wanted cosent or cosine"),
        ("", {"loss": "hinge"}, "loss is 'hinge', wanted one of in-batch, both-ways, triplet, cosent, cosine"),
        ("", {"batch_size": 1}, "batch_size is 1, wanted at least 2: the loss compares the pairs of a batch"),
        ("", {"prompts": ("a", "b", "c")}, "prompts is .*, wanted at most 2: for the first text, and for the others"),
        ("", {"pooling": "median"}, "pooling is 'median', wanted one of mean, cls, max"),
    ],
)
def test_files_and_settings_that_do_not_fit_are_refused(run_of, content, changes, error):
    with pytest.raises(InputError, match=error):
        run_of(content, **changes)


def test_equal_texts_have_one_number_and_prompts_come_first(run_of):
    run = run_of("a cat\ta b\tc\nb\ta b\ta cat\n", negatives=("2",), prompts=("the", "it "))
    batch = run.task.collate(run.data.examples)
    assert batch.labels.tolist() == [[0, 1, 2], [3, 1, 0]] and batch.input_ids.shape[:2] == (2, 3)
    first = zip(batch.input_ids[0], batch.attention_mask[0], strict=True)
    texts = run.tokenizer.encode(["thea cat", "it a b", "it c"])
    assert [run.tokenizer.decode(ids[mask == 1]) for ids, mask in first] == [text.tokens for text in texts]


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
def test_the_loss_is_as_the_settings_say(run_of, changes, loss):
    run = run_of("a cat\tit purrs\t0.5\na dog\tit barks\t1\n", **changes)
    assert type(run.model.loss_function) is loss
    assert getattr(run.model.loss_function, "both_ways", False) is (changes.get("loss") == "both-ways")


def test_it_learns_what_belongs_together_and_saves_what_a_search_reads(run_of, tmp_path):
    queries = [f"a {animal} ." for animal in ANIMALS]
    texts = [f"the {animal} {does} ." for animal, does in ANIMALS.items()]
    pairs = "".join(f"{query}\t{text}\n" for query, text in zip(queries, texts, strict=True))
    with pytest.warns(UserWarning, match="4 of 4 rows"):
        run = run_of(pairs * 3, held_out=str(tmp_path / "pairs.tsv"))
    before, found = run.baselines, run.trainer.train()
    assert found["mrr_at_10"] == found["recall_at_1"] == 1 > before["mrr_at_10"]
    assert found["loss"] < before["loss"] / 2
    folder = tmp_path / "run" / "model"
    (judged,) = evaluate_files(folder, [run.settings.train], run.settings)
    assert judged.metrics == pytest.approx(found, rel=1e-5)
    BertModel.from_pretrained(folder, add_pooling_layer=False)  # as any program that reads a BERT
    embed = Embed.from_pretrained(folder)
    assert [hit[0].corpus_id for hit in embed.semantic_search(queries, texts, top_k=1)] == [0, 1, 2, 3]
    assert (embed.pooling, embed.normalize, embed.max_length) == ("mean", False, 16)


def test_the_pooling_is_the_folders_own_unless_another_is_asked_for(run_of, model, tmp_path):
    theirs = tmp_path / "theirs"
    Embed.from_pretrained(model, pooling="cls", normalize=True).save_pretrained(theirs)
    for changes, pooling in (({}, "cls"), ({"pooling": "max"}, "max")):
        run = run_of("a cat\tit purrs\na dog\tit barks\n", model=str(theirs), **changes)
        assert (run.task.embed().pooling, run.task.embed().normalize) == (pooling, True)
        example = run.data.examples[0]
        vectors, (found,) = run.task.embed()(list(example.given)), run.task.predict([example])
        np.testing.assert_allclose(found, vectors, rtol=1e-5, atol=1e-6)


def test_scores_are_learned_in_their_order(run_of, tmp_path):
    rows = "a cat .\tthe cat .\t5\na cat .\tthe dog .\t3\na bird .\tit rains .\t0\na dog .\ta .\t1\n"
    with pytest.warns(UserWarning, match="4 of 4 rows"):
        run = run_of(rows, label="2", held_out=str(tmp_path / "pairs.tsv"))
    numbers = run.trainer.train()
    assert numbers["spearman"] == pytest.approx(1) and numbers["loss"] < run.baselines["loss"]


def test_a_search_is_scored_by_the_places_of_what_belongs_to_the_query():
    found = retrieval_scores(["dba", "cab", "ef"], ["b", "bc", "a"])
    wanted_ndcg = (1 / math.log2(3) + (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)) + 0) / 3
    wanted = {"recall_at_1": 0.5 / 3, "recall_at_10": 2 / 3, "mrr_at_10": 1.5 / 3, "ndcg_at_10": wanted_ndcg}
    assert found == pytest.approx(wanted)
    assert retrieval_scores(["abcdefghijklmnop"], ["p"])["recall_at_10"] == 0


def test_a_text_that_is_there_twice_is_searched_once():
    e = np.eye(4)
    vectors = {"q": e[0], "r": e[2], "a": e[0], "x": e[1], "b": e[2], "c": e[0] + e[1]}
    examples = [Labelled(given, 0.0) for given in ("qax", "rba", "qcx", "qax")]
    found = SentenceVectors.answers(
        SimpleNamespace(sequences_of=list), [[vectors[text] for text in each.given] for each in examples], examples
    )
    assert [answer[:4] for answer in found] == [
        (["a", "c"], ["a", "c", "x", "b"], False, 1),
        (["b"], ["b", "a", "x", "c"], False, 1),
    ]
