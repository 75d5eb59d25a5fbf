"""Pre-training: from a folder of text to a BERT, with masked words and sentence pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from npbert.compute import Array
from npbert.core import IGNORED
from npbert.data import Batch, Tokenizer
from npbert.data.corpus import Corpus, passages, warn_of_known
from npbert.data.training_data import OBJECTIVES, PretrainingData
from npbert.inference import Task, check_vocabulary, likely_words
from npbert.io import ALONE, Communicator, InputError, Wanted, at_least, counted, one_of, setting
from npbert.io.errors import SHARE
from npbert.layers import Softmax
from npbert.models import (
    PRESETS,
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    ReplacedTokenDetection,
    TaskModel,
    neither_size_nor_folder,
)
from npbert.training.accumulate import StepLosses, evaluate_losses
from npbert.training.settings import TrainerSettings, vocabulary
from npbert.training.trainer import Trainer, TrainingRun

SENTENCES, GUESSES = 8, 5
_LONGEST = 24


@dataclass(frozen=True, kw_only=True)
class PretrainSettings(TrainerSettings):
    """Settings of pre-training: text, model, and training. (Devlin et al. 2018, section 3.1 and appendix A.2.)

    Raises: ValueError for a value that is not possible.
    """

    corpus: tuple[str, ...] = setting(
        (),
        "files or folders of text to train on: a sentence a line, a blank line between documents",
        value="FILE",
        wanted=Wanted("at least one file or folder of text", bool),
    )
    held_out: tuple[str, ...] = setting(
        (), "files or folders of text to evaluate the model on, without training on them", value="FILE"
    )
    document_per_file: bool = setting(False, "take each file as one document, whatever its blank lines")
    vocabulary: str = setting(
        "",
        "the folder of a tokenizer, from npbert vocab",
        value="FOLDER",
        wanted=Wanted("a folder with a tokenizer; make one with `npbert vocab`", bool),
    )
    model: str = setting(
        "bert-mini",
        "the size of a new model (bert-tiny, bert-mini, bert-small …; see npbert params --help), or the "
        "folder of a checkpoint to continue from",
        value="MODEL",
    )
    objective: str = setting(
        "nsp",
        "the task next to masked words: nsp (next sentence prediction), sop (sentence order), none, or rtd (replaced "
        "token detection, as in ELECTRA)",
        wanted=one_of(OBJECTIVES),
    )
    max_length: int = setting(128, "the most tokens of a sequence", wanted=at_least(8))
    batch_size: int = setting(32, "the number of sequences in a batch", wanted=at_least(1))
    mask_probability: float = setting(0.15, "the share of tokens that the model must predict", wanted=SHARE)
    whole_words: bool = setting(False, "mask all pieces of a word, or none")
    held_out_batches: int = setting(50, "the number of held-out batches in an evaluation", wanted=at_least(1))
    seed: int = setting(0, "the seed of all random numbers: the same seed gives the same run", wanted=at_least(0))


class Pretraining(TrainingRun):
    """A run of pre-training in `folder`: `trainer.train()` starts or continues it. communicator: as in Trainer.

    held_out: the batches that the model is evaluated on. Warns: of documents of the held-out text that are in the
    corpus, too.

    Raises: ValueError for a held-out text without a batch, or more tokens than the model takes; FileNotFoundError for a
    missing file, or a model that is neither a size nor a folder; as Corpus, Tokenizer.from_pretrained, PretrainingData
    and from_pretrained.
    """

    def __init__(self, settings: PretrainSettings, folder: str | Path, *, communicator: Communicator = ALONE) -> None:
        rng = np.random.default_rng(settings.seed)
        self.settings, self.communicator = settings, communicator
        self.tokenizer = Tokenizer.from_pretrained(settings.vocabulary)
        if settings.objective in ("nsp", "sop") and not self.tokenizer.joins_as_bert:
            wanted = "none or rtd, as the vocabulary puts other tokens between two texts than BERT's does"
            raise InputError("objective", settings.objective, wanted)
        corpus = Corpus(settings.corpus, document_per_file=settings.document_per_file)
        inputs = {f"corpus file {path}": path for path in corpus.files}
        names = ("batch_size", "max_length", "objective", "mask_probability", "whole_words")
        self.data = PretrainingData(corpus, self.tokenizer, **{name: getattr(settings, name) for name in names})
        self.model = _make_model(settings, self.tokenizer, rng)
        task = Task(self.model, self.tokenizer, max_length=settings.max_length)
        self.kinds = ("",) if settings.objective == "none" else ("mlm", settings.objective)
        self.held_out, self.baselines = [], {}
        if settings.held_out:
            held_out = Corpus(settings.held_out, document_per_file=settings.document_per_file)
            inputs |= {f"held-out file {path}": path for path in held_out.files}
            batches = replace(self.data, corpus=held_out).batches(settings.seed)
            self.held_out = [batch for _, batch in islice(batches, settings.held_out_batches)]
            if not self.held_out:
                raise InputError("held_out", ", ".join(settings.held_out), "text for a batch")
            warn_of_known(*passages(held_out, corpus), "passage", "the held-out text", "the corpus")
            self.baselines = baselines(self.held_out, unigrams(corpus, self.tokenizer), self.kinds)
        shown = self.held_out or [batch for _, batch in islice(self.data.batches(settings.seed), 1)]
        self.sentences = masked_sentences(shown[0]) if shown else None
        self.goal = "" if settings.objective == "rtd" else "loss"  # the better the generator, the harder it gets
        self.cost, self.inputs = len(self.held_out), {**inputs, "vocabulary": vocabulary(self.tokenizer)}
        self.trainer = Trainer(
            self.model,
            self.data,
            folder,
            settings,
            rng=rng,
            evaluation=self,
            save_model=partial(task.save_pretrained, overwrite=True),
            communicator=communicator,
        )

    def summary(self) -> str:
        """Return a few lines about the run: its text, its model and its length."""
        settings, corpus = self.settings, self.data.corpus
        lines = [
            f"{shorten(', '.join(settings.corpus), 60)}: {counted(corpus.num_bytes, 'byte')} of text, in "
            f"{counted(len(corpus.files), 'file')} with {counted(corpus.num_documents, 'document')} in all",
            f"a model of {self.model.num_parameters():,} parameters, {len(self.tokenizer):,} tokens; it starts from "
            f"{settings.model}",
        ]
        if self.held_out:
            files = shorten(", ".join(settings.held_out), 60)
            lines.append(f"{files}: {len(self.held_out):,} batches, for an evaluation {self.when}")
        sequences = f"{counted(settings.batch_size, 'sequence')} of up to {settings.max_length} tokens"
        return "\n".join([*lines, f"{counted(settings.steps, 'step')} of {sequences}"])

    def evaluate(self) -> dict[str, float]:
        """Return losses and accuracies of the model on the held-out batches."""
        return evaluate_losses(self.model, self.held_out, self.kinds, self.communicator)

    def show(self) -> dict[str, object]:
        """Return the model's predictions for masked words, and the baselines of its losses."""
        model = getattr(self.model, "generator", self.model)
        shown = guesses(model, self.sentences, self.tokenizer) if self.sentences else {}
        return {**shown, "baselines": self.baselines}


def _make_model(settings: PretrainSettings, tokenizer: Tokenizer, rng: np.random.Generator) -> TaskModel:
    classes: Any = {"none": BertForMaskedLM, "rtd": ReplacedTokenDetection}
    model_class = classes.get(settings.objective, BertForPreTraining)
    if settings.model in PRESETS:
        config = BertConfig.preset(settings.model, vocab_size=len(tokenizer))
        length = max(settings.max_length, config.max_position_embeddings)
        model: TaskModel = model_class(replace(config, max_position_embeddings=length), rng=rng)
    elif Path(settings.model).is_dir():
        model = model_class.from_pretrained(settings.model, rng=rng)
    else:
        raise FileNotFoundError(f"model: {neither_size_nor_folder(settings.model)}")
    check_vocabulary(settings.model, tokenizer, model.config)
    return model


def unigrams(corpus: Corpus, tokenizer: Tokenizer, *, max_pieces: int = 1000) -> Array:
    """Return the share of each token in the corpus (V,), counted in `max_pieces` pieces spread over it; never 0."""
    counts = np.ones(len(tokenizer))  # each token counts once in advance
    for number in range(0, len(corpus), -(-len(corpus) // max_pieces)):
        for ids in tokenizer.pieces(corpus.read(number)):
            np.add.at(counts, np.array(ids, int), 1)
    return counts / counts.sum()


def baselines(batches: Sequence[Batch], shares: Array, kinds: tuple[str, ...]) -> dict[str, float]:
    """Return the metrics of a model that knows only the frequencies of words and labels."""
    words = np.concatenate([batch.labels[batch.labels != IGNORED] for batch in batches if batch.labels is not None])
    losses, right = [float(-np.log(shares[words]).mean())], [float((words == shares.argmax()).mean())]
    if len(kinds) > 1:
        share = float(np.concatenate([batch.next_sentence_label for batch in batches]).mean())
        if kinds[1] == "rtd":  # as if each masked word were replaced by another
            share = len(words) / sum(int(batch.attention_mask.sum()) for batch in batches)
        losses.append(-sum(p * math.log(p) for p in (share, 1 - share) if p > 0))
        right.append(max(share, 1 - share))
    return StepLosses(tuple(losses), (1, 1), tuple(right)).by_name(kinds)


def masked_sentences(batch: Batch) -> Batch | None:
    """Return the first eight sequences of a batch with a masked word in their first 24 tokens, cut there; None if there
    are none."""
    whole = batch.input_ids, batch.token_type_ids, batch.attention_mask, np.asarray(batch.labels)
    *_, labels = arrays = [array[:, :_LONGEST] for array in whole]
    chosen = np.flatnonzero((labels != IGNORED).any(axis=1))[:SENTENCES]
    return Batch(*(array[chosen] for array in arrays)) if chosen.size else None


def guesses(model: TaskModel, batch: Batch, tokenizer: Tokenizer) -> dict[str, object]:
    """Return the model's predictions: for each sentence its tokens, and for each masked one its place, the true token
    with its probability, and the five most probable tokens."""
    output, labels, decode = model(batch), np.asarray(batch.labels), tokenizer.decode
    probabilities = Softmax()(getattr(output, "prediction_logits", output).astype(float))
    texts = zip(batch.input_ids, batch.attention_mask, strict=True)
    rows = [{"tokens": decode(ids[mask == 1]), "hidden": list[Any]()} for ids, mask in texts]
    for p, (sentence, place) in zip(probabilities, np.argwhere(labels != IGNORED).tolist(), strict=True):
        label, likely = labels[sentence, place], list(map(tuple, likely_words(p, tokenizer, GUESSES)))
        true = {"token": decode([label])[0], "probability": p[label]}
        rows[sentence]["hidden"].append({"place": place, **true, "guesses": likely})
    return {"kind": "masked", "sentences": rows}
