"""What the cases start from: small right checkpoints, texts, tables and a finished run, made once for a process."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

from npbert import (
    BertForMaskedLM,
    BertForMultipleChoice,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    Tokenizer,
)
from npbert.training.pretrain import Pretraining, PretrainSettings
from tests.inference.checkpoints import write_checkpoint, write_sentence_transformer

HEADS: dict[str, tuple[Any, dict[str, Any]]] = {
    "fill-mask": (BertForMaskedLM, {}),
    "embed": (BertModel, {}),
    "classify": (BertForSequenceClassification, {"num_labels": 2, "id2label": ("no", "yes")}),
    "regression": (BertForSequenceClassification, {"num_labels": 1}),
    "choice": (BertForMultipleChoice, {}),
    "tag": (BertForTokenClassification, {"num_labels": 3, "id2label": ("O", "B-X", "I-X")}),
    "answer": (BertForQuestionAnswering, {}),
    "pretraining": (BertForPreTraining, {}),
}
TEXTS = {
    "fill-mask": "the cat sat on the [MASK] .\na [MASK] ran\n",
    "embed": "the cat sat on the mat .\na dog ran\n",
    "classify": "the cat sat\nthe dog\tran on the road\n",
    "tag": "the cat sat\na dog ran on\n",
    "answer": '{"question": "who sat ?", "passage": "the cat sat on the mat ."}\n',
}
TABLE = "".join(
    f"{label}\t{text}\n" for label, text in [("no", "the cat sat"), ("yes", "a dog ran ."), ("no", "café")] * 3
)
SCORES = "".join(f"{score}\tthe cat\ta dog\n" for score in (0.5, 1, 2.25, 3, 4, 5))
CHOICES = "".join(f"{label}\tthe cat\ta dog\tran on\n" for label in (0, 1, 1, 0))
CONLL = "the O\ncat B-X\nsat I-X\n\na O\ndog B-X\nran O\n\non O\nthe O\nroad O\n"
SQUAD = {
    "version": "1.1",
    "data": [
        {
            "title": "cats",
            "paragraphs": [
                {
                    "context": "the cat sat on the mat . a dog ran",
                    "qas": [
                        {"id": "1", "question": "who sat ?", "answers": [{"text": "the cat", "answer_start": 0}]},
                        {"id": "2", "question": "who ran ?", "answers": [{"text": "a dog", "answer_start": 25}]},
                    ],
                }
            ],
        }
    ],
}
CORPUS = "\n".join(["the cat sat on the mat .", "a dog ran on the road .", "", "the cat ran .", "a dog sat ."] * 4)


class Base(NamedTuple):
    """checkpoints: a folder for each head. run: the folder of a finished run of pre-training. files: by name."""

    checkpoints: dict[str, Path]
    run: Path
    corpus: Path

    def copy(self, source: Path, folder: Path) -> Path:
        """A copy of a folder that a case may spoil."""
        return Path(shutil.copytree(source, folder / source.name))


def make_base(folder: Path) -> Base:
    """Write everything into `folder`."""
    pooling = {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True}
    checkpoints = {"embed": write_sentence_transformer(folder / "embed", pooling, max_length=16)}
    for name, (model_class, changes) in HEADS.items():
        if name not in checkpoints:
            checkpoints[name] = write_checkpoint(folder / name, model_class, **changes)
        Tokenizer.from_pretrained(checkpoints[name]).save_pretrained(checkpoints[name])
    corpus = folder / "corpus.txt"
    corpus.write_text(CORPUS, encoding="utf-8")
    settings = PretrainSettings(
        corpus=(str(corpus),),
        held_out=(str(corpus),),
        vocabulary=str(checkpoints["pretraining"]),
        model=str(checkpoints["pretraining"]),
        steps=4,
        batch_size=2,
        max_length=16,
        held_out_batches=1,
        save_every=2,
        log_every=1,
    )
    run = folder / "run"
    Pretraining(settings, run).trainer.train()
    shutil.rmtree(run / "tensorboard")
    return Base(checkpoints, run, corpus)
