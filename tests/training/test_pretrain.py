"""Pre-training: every setting arrives where it acts; and what knowing next to nothing gives, to be held against."""

import math
import warnings
from dataclasses import asdict, replace

import numpy as np
import pytest

from npbert import IGNORED, Batch, BertConfig, BertForMaskedLM, BertForPreTraining, Tokenizer
from npbert.data.corpus import Corpus
from npbert.data.pretraining_data import PretrainingData
from npbert.json_lines import METRICS_FILE, SHOWN_FILE, read_json_lines
from npbert.training.judge import Goal
from npbert.training.masked_sentences import MaskedSentences
from npbert.training.pretrain import Pretraining, PretrainSettings, baselines, evaluate_losses, unigrams
from npbert.training.settings import SETTINGS_FILE, load_settings
from tests.training.tiny import VOCABULARY, assert_same, values, write_checkpoint, write_corpus

SMALL = BertConfig(30, 8, 1, 2, 12, max_position_embeddings=20, initializer_range=0.2)
OF_THE_DATA = {"batch_size": 3, "max_length": 18, "objective": "sop", "mask_probability": 0.4, "whole_words": True}


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Settings of which none is its default. The size `small` is one of the presets; a horse is two tokens."""
    for module in ("npbert.models.config", "npbert.training.pretrain"):
        monkeypatch.setattr(f"{module}.PRESETS", {"small": asdict(SMALL)})
    checkpoint = write_checkpoint(tmp_path / "checkpoint")
    vocabulary = (checkpoint / "vocab.txt").read_text().replace("horse", "##orse").replace("goat", "h")
    (checkpoint / "vocab.txt").write_text(vocabulary)
    return PretrainSettings(
        corpus=(str(write_corpus(tmp_path / "corpus.txt")),),
        held_out=(str(write_corpus(tmp_path / "held_out.txt", seed=1)),),
        vocabulary=str(checkpoint),
        document_per_file=True,
        model="small",
        held_out_batches=2,
        seed=5,
        steps=4,
        **OF_THE_DATA,
    )


def batches(data, seed=1):
    """Those of an epoch, as lists."""
    return [{name: np.array(array).tolist() for name, array in vars(batch).items()} for _, batch in data.batches(seed)]


def test_the_data_are_as_the_settings_say(settings, tmp_path):
    def wanted(files, settings, *, document_per_file=True, seed=1):
        corpus = Corpus(files, document_per_file=document_per_file)
        return batches(PretrainingData(corpus, run.tokenizer, **settings), seed)

    run = Pretraining(settings, tmp_path / "run")
    assert batches(run.data) == wanted(settings.corpus, OF_THE_DATA)
    assert batches(run.data) != wanted(settings.corpus, OF_THE_DATA, document_per_file=False)
    for name in OF_THE_DATA:
        others = {other: value for other, value in OF_THE_DATA.items() if other != name}
        assert batches(run.data) != wanted(settings.corpus, others), f"{name} should show"
    held_out = wanted(settings.held_out, OF_THE_DATA, seed=5)
    assert len(held_out) > 2
    assert [str(path) for path in run.trainer.judged_by] == [*settings.held_out]
    assert [batch.input_ids.tolist() for batch in run.held_out] == [batch["input_ids"] for batch in held_out[:2]]
    assert run.evaluate() == evaluate_losses(run.model, run.held_out, ("mlm", "sop"))
    assert run.baselines == baselines(run.held_out, unigrams(run.data.corpus, run.tokenizer), ("mlm", "sop"))


def test_a_new_model_is_as_the_settings_say(settings, tmp_path):
    def model(**changes):
        return Pretraining(replace(settings, held_out=(), **changes), tmp_path / "run").model

    assert model().config == SMALL
    assert model(max_length=25).config == replace(SMALL, max_position_embeddings=25)
    assert [type(model(objective=name)) for name in ("nsp", "none")] == [BertForPreTraining, BertForMaskedLM]
    rng = np.random.default_rng(5)
    assert_same(values(model()), values(BertForPreTraining(SMALL, rng=rng)))
    assert Pretraining(settings, tmp_path / "run").trainer.progress.epoch_seed == rng.integers(2**63)


def test_an_old_model_is_gone_on_from(settings, tmp_path):
    old = replace(settings, model=settings.vocabulary, evaluate_every=2)
    run = Pretraining(old, tmp_path / "run")
    assert_same(values(run.model), values(BertForPreTraining.from_pretrained(settings.vocabulary)))
    without = replace(old, held_out=(), evaluate_every=-1, steps=40)
    assert Pretraining(without, tmp_path / "run").trainer.settings.evaluate_every == 4, "and shown along the way"
    for held_out in (settings.held_out, ()):  # what is shown is held-out text, if there is any
        run = Pretraining(replace(old, held_out=held_out), tmp_path / "run")
        text = Corpus(held_out or settings.corpus, document_per_file=True)
        wanted = MaskedSentences(text, run.tokenizer, max_length=old.max_length, seed=old.seed)
        assert run.sentences.input_ids == wanted.input_ids
        assert bool(run.baselines) == bool(held_out)
    run = Pretraining(old, tmp_path / "run")
    (tmp_path / "unknown.txt").write_text("xyz\n")
    with pytest.raises(ValueError, match=r"the held-out text, .*unknown\.txt, has no batches"):
        Pretraining(replace(old, held_out=(str(tmp_path / "unknown.txt"),)), tmp_path / "run")
    assert list(run.trainer.example.tokens) == min(map(run.tokenizer.decode, run.sentences.input_ids), key=len)
    assert run.tokenizer.decode(run.trainer.example.batch.input_ids[0]) == list(run.trainer.example.tokens)
    numbers = run.trainer.train()
    shown = read_json_lines(tmp_path / "run" / SHOWN_FILE)
    assert [(row["step"], row["best_step"]) for row in shown] == [(2, 2), (4, run.trainer.progress.best_step)]
    first, last = ([sentence["tokens"] for sentence in row["sentences"]] for row in shown)
    assert first == last == [run.tokenizer.decode(ids) for ids in run.sentences.input_ids]
    assert shown[0]["sentences"] != shown[1]["sentences"], "it learns"
    assert [row["baselines"] for row in shown] == [run.baselines] * 2 != [{}] * 2
    assert {"loss", "mlm_loss", "sop_accuracy"} < set(read_json_lines(tmp_path / "run" / METRICS_FILE)[1])
    assert run.trainer.goal == Goal("loss")
    assert load_settings(PretrainSettings, tmp_path / "run" / SETTINGS_FILE) == replace(old, parts=1)
    kept = tmp_path / "run" / "model"
    assert Pretraining(replace(old, model=str(kept)), tmp_path / "again").evaluate() == numbers, "it is the best one"
    kept_tokenizer = Tokenizer.from_pretrained(kept)
    assert (len(kept_tokenizer), kept_tokenizer.max_length) == (30, old.max_length)


@pytest.mark.parametrize("gone", ["corpus", "held_out"])
def test_a_file_that_is_not_there_is_missed_before_anything_is_read(settings, tmp_path, monkeypatch, gone):
    monkeypatch.setattr(Tokenizer, "from_pretrained", lambda *_: pytest.fail("a file was read"))
    with pytest.raises(FileNotFoundError, match=r"gone\.txt"):
        Pretraining(replace(settings, **{gone: (*settings.corpus, "gone.txt")}), tmp_path / "run")


def test_baselines_know_words_by_their_frequency_and_pairs_by_theirs():
    words = -(2 * math.log(0.5) + math.log(0.3) + math.log(0.2)) / 4
    pairs = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    wanted = {"loss": words + pairs, "mlm_loss": words, "mlm_accuracy": 2 / 4, "nsp_loss": pairs, "nsp_accuracy": 2 / 3}
    shares, no = np.array([0.2, 0.5, 0.3]), IGNORED
    first = Batch([[0, 0, 0], [0, 0, 0]], labels=[[no, 1, no], [2, 1, no]], next_sentence_label=[0, 1])
    last = Batch([[0, 0]], labels=[[0, no]], next_sentence_label=[0])
    assert baselines([first, last], shares, ("mlm", "nsp")) == pytest.approx(wanted)
    assert baselines([first, last], shares, ("",)) == pytest.approx({"loss": words, "accuracy": 2 / 4})
    alike = baselines([last], shares, ("mlm", "sop"))
    assert (alike["sop_loss"], alike["sop_accuracy"]) == (0, 1)


@pytest.mark.parametrize(("max_pieces", "pieces"), [(1000, [0, 1, 2]), (2, [0, 2]), (1, [0])])
def test_frequencies_in_pieces_spread_over_the_corpus(tmp_path, max_pieces, pieces):
    tokenizer = Tokenizer.from_pretrained(write_checkpoint(tmp_path / "checkpoint"))
    (tmp_path / "corpus.txt").write_text("the cat .\nthe dog .\n\nthe old cat .\n\nred\n", encoding="utf-8")
    words = " ".join(["the cat . the dog .", "the old cat .", "red"][piece] for piece in pieces).split()
    wanted = np.array([1 + words.count(token) for token in VOCABULARY])
    got = unigrams(Corpus([tmp_path / "corpus.txt"]), tokenizer, max_pieces=max_pieces)
    np.testing.assert_allclose(got, wanted / wanted.sum())


@pytest.mark.parametrize("blank", ["\n", ""])
def test_a_held_out_document_that_is_in_the_corpus_is_said(tmp_path, blank):
    corpus, held_out = write_corpus(tmp_path / "a.txt"), write_corpus(tmp_path / "b.txt", documents=2, seed=1)
    checkpoint = write_checkpoint(tmp_path / "checkpoint")
    files = {"corpus": [corpus], "held_out": [held_out], "vocabulary": checkpoint, "model": checkpoint}
    settings = PretrainSettings(**files, max_length=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Pretraining(settings, tmp_path / "run")
    text = held_out.read_text(encoding="utf-8").split("\n\n")[1].strip()
    rest = "\n" + corpus.read_text(encoding="utf-8") if blank else ""
    corpus.write_text(f"{text}\n{blank}{rest}", encoding="utf-8")
    with pytest.warns(UserWarning, match="the corpus has 1 of 2 passages of the held-out text in it"):
        Pretraining(settings, tmp_path / "run")
