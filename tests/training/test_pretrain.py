"""Pre-training: every setting arrives where it acts; what knowing next to nothing gives, to be held against; and the
sentences with hidden words: always the same, short, and with what the model thinks of each hidden one."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npbert import IGNORED, Batch, BertConfig, BertForMaskedLM, BertForPreTraining, Softmax, Tokenizer, randomize
from npbert.data.corpus import Corpus
from npbert.data.training_data import PretrainingData
from npbert.io.lines import SHOWN_FILE, finite_or_null, read_json_lines
from npbert.training.pretrain import (
    GUESSES,
    SENTENCES,
    Pretraining,
    PretrainSettings,
    baselines,
    evaluate_losses,
    masked_sentences,
    unigrams,
)
from npbert.training.settings import vocabulary
from tests.training.tiny import VOCABULARY, assert_same, values, write_checkpoint, write_corpus

SMALL = BertConfig(30, 8, 1, 2, 12, max_position_embeddings=20, initializer_range=0.2)
OF_THE_DATA = {"batch_size": 3, "max_length": 18, "objective": "sop", "mask_probability": 0.4, "whole_words": True}


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Settings of which none is its default. The size `small` is one of the presets; a horse is two tokens."""
    for module in ("npbert.models.config", "npbert.training.pretrain"):
        monkeypatch.setattr(f"{module}.PRESETS", {"small": SMALL})
    checkpoint = write_checkpoint(tmp_path / "checkpoint")
    vocabulary = (checkpoint / "vocab.txt").read_text().replace("horse", "##orse").replace("goat", "h")
    (checkpoint / "vocab.txt").write_text(vocabulary)
    return PretrainSettings(
        corpus=(str(write_corpus(tmp_path / "corpus.txt", documents=12)),),
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
    assert [batch.input_ids.tolist() for batch in run.held_out] == [batch["input_ids"] for batch in held_out[:2]]
    of_corpus, of_held_out, of_vocabulary = run.trainer.evaluation.inputs.items()
    assert of_corpus == (f"corpus file {settings.corpus[0]}", Path(settings.corpus[0]))
    assert of_held_out == (f"held-out file {settings.held_out[0]}", Path(settings.held_out[0]))
    assert of_vocabulary == ("vocabulary", vocabulary(run.tokenizer))
    assert run.evaluate() == evaluate_losses(run.model, run.held_out, ("mlm", "sop"))
    assert run.baselines == baselines(run.held_out, unigrams(run.data.corpus, run.tokenizer), ("mlm", "sop"))


def test_a_new_model_is_as_the_settings_say(settings, tmp_path):
    def model(**changes):
        return Pretraining(replace(settings, held_out=(), **changes), tmp_path / "run").model

    assert model().config == SMALL
    assert model(max_length=25).config == replace(SMALL, max_position_embeddings=25)
    assert [type(model(objective=name)) for name in ("nsp", "none")] == [BertForPreTraining, BertForMaskedLM]
    run = Pretraining(replace(settings, objective="rtd", held_out_batches=1), tmp_path / "run")
    assert run.trainer.evaluation.goal == "", "the better the generator, the harder it gets"
    rng = np.random.default_rng(5)
    assert_same(values(model()), values(BertForPreTraining(SMALL, rng=rng)))
    assert Pretraining(settings, tmp_path / "run").trainer.progress.seed == rng.integers(2**63)


def test_an_old_model_is_gone_on_from(settings, tmp_path):
    old = replace(settings, model=settings.vocabulary, evaluate_every=2)
    run = Pretraining(old, tmp_path / "run")
    assert_same(values(run.model), values(BertForPreTraining.from_pretrained(settings.vocabulary)))
    run.trainer.train()
    shown = read_json_lines(tmp_path / "run" / SHOWN_FILE)
    assert [(row["step"], row["best_step"]) for row in shown] == [(2, 2), (4, run.trainer.progress.best_step)]
    assert [row["baselines"] for row in shown] == [finite_or_null(run.baselines)] * 2
    (tmp_path / "unknown.txt").write_text("xyz\n")
    with pytest.raises(ValueError, match=r"held_out is .*unknown\.txt.*, wanted text for a batch"):
        Pretraining(replace(old, held_out=(str(tmp_path / "unknown.txt"),)), tmp_path / "run")


def test_baselines_know_words_by_their_frequency_and_pairs_by_theirs():
    words = -(3 * math.log(0.5) + math.log(0.2)) / 4
    pairs = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    wanted = {"loss": words + pairs, "mlm_loss": words, "mlm_accuracy": 3 / 4, "nsp_loss": pairs, "nsp_accuracy": 2 / 3}
    shares, no = np.array([0.2, 0.5, 0.3]), IGNORED
    first = Batch([[0, 0, 0], [0, 0, 0]], labels=[[no, 1, no], [1, 1, no]], next_sentence_label=[0, 1])
    last = Batch([[0, 0]], labels=[[0, no]], next_sentence_label=[0])
    assert baselines([first, last], shares, ("mlm", "nsp")) == pytest.approx(wanted)
    assert baselines([first, last], shares, ("",)) == pytest.approx({"loss": words, "accuracy": 3 / 4})


def test_frequencies_in_pieces_spread_over_the_corpus(tmp_path):
    tokenizer = Tokenizer.from_pretrained(write_checkpoint(tmp_path / "checkpoint"))
    (tmp_path / "corpus.txt").write_text("the cat .\nthe dog .\n\nthe old cat .\n\nred\n", encoding="utf-8")
    words = ["the", "cat", ".", "the", "dog", ".", "red"]
    wanted = np.array([1 + words.count(token) for token in VOCABULARY])
    got = unigrams(Corpus([tmp_path / "corpus.txt"]), tokenizer, max_pieces=2)
    np.testing.assert_allclose(got, wanted / wanted.sum())


def test_a_vocabulary_is_known_by_its_files(tmp_path):
    folder = write_checkpoint(tmp_path / "checkpoint")
    before = vocabulary(Tokenizer.from_pretrained(folder))
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    cased = vocabulary(Tokenizer.from_pretrained(folder))
    (folder / "vocab.txt").write_text("\n".join(reversed(VOCABULARY)))
    assert len({before, cased, vocabulary(Tokenizer.from_pretrained(folder))}) == 3


def test_a_held_out_document_that_is_in_the_corpus_is_said(settings, tmp_path):
    settings = replace(settings, model=settings.vocabulary, document_per_file=False)
    held_out, corpus = ((tmp_path / name).read_text(encoding="utf-8") for name in ("held_out.txt", "corpus.txt"))
    (tmp_path / "corpus.txt").write_text(f"{held_out.split(chr(10) * 2)[1]}\n\n{corpus}", encoding="utf-8")
    with pytest.warns(UserWarning, match="the corpus has 1 of 6 passages of the held-out text in it"):
        Pretraining(settings, tmp_path / "run")


def test_what_is_shown_is_what_the_model_says(settings, tmp_path):
    """Without held-out text, of a batch for training."""
    run = Pretraining(replace(settings, held_out=(), batch_size=12), tmp_path / "run")
    batch = next(run.data.batches(settings.seed))[1]
    randomize(run.model, np.random.default_rng(1))  # of small weights, one would hardly see padding that is read
    sentences = run.show()["sentences"]
    assert len(sentences) == SENTENCES
    for number, row in enumerate(sentences):
        length, labels = len(row["tokens"]), batch.labels[number]
        alone = Batch(batch.input_ids[number, None, :length], batch.token_type_ids[number, None, :length])
        assert row["tokens"] == run.tokenizer.decode(alone.input_ids[0])
        p = Softmax()(run.model(alone).prediction_logits[0].astype(float))
        assert [one["place"] for one in row["hidden"]] == np.flatnonzero(labels != IGNORED).tolist()
        for one in row["hidden"]:
            label, of_place = labels[one["place"]], p[one["place"]]
            assert one["token"] == run.tokenizer.decode([label])[0]
            found = [one["probability"], *(score for _, score in finite_or_null(one["guesses"]))]
            assert found == pytest.approx([of_place[label], *np.sort(of_place)[: -GUESSES - 1 : -1]], rel=2e-3)


def test_sentences_are_short_and_have_a_masked_word():
    labels = np.full((3, 30), IGNORED)
    labels[0, 25] = labels[1, 5] = labels[1, 29] = labels[2, 0] = 7
    some = masked_sentences(Batch(np.arange(90).reshape(3, 30), labels=labels))
    assert some.input_ids.tolist() == [[*range(30, 54)], [*range(60, 84)]]
    assert masked_sentences(Batch(np.zeros((1, 30), int), labels=labels[:1])) is None
