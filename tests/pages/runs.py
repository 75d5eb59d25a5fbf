"""The files that a run leaves, of each kind of task, small enough to see what a page should make of them."""

import json

import numpy as np

from npbert.io import LAYERS_FILE, METRICS_FILE, SHOWN_FILE

METRICS = [
    {"step": 10, "loss": 3.0, "accuracy": 0.1, "learning_rate": 1e-3, "gradient_norm": 2.0},
    {"step": 10, "eval_loss": 3.25, "eval_accuracy": 0.25},
    {"step": 20, "loss": 2.0, "accuracy": 0.2, "learning_rate": 1e-4, "gradient_norm": 1.0},
    {"step": 20, "eval_loss": 2.75, "eval_accuracy": None},
]
LAYERS = [
    {"step": step, "gradient_norms": {"embeddings": 0.1, "layer 1": None}, "update_ratios": {"embeddings": 1e-3}}
    for step in (10, 20)
]


def masked(step, guess):
    tokens = ["[CLS]", "un", "##able", "[MASK]", "cat", *(["cat"] * 20), "[SEP]"]
    hidden = [{"place": 3, "token": "the", "probability": 0.25, "guesses": [[guess, 0.5], ["a", 0.25]]}]
    return {"step": step, "kind": "masked", "sentences": [{"tokens": tokens, "hidden": hidden}]}


def wrong(kind, worst, **rest):
    return {"step": 20, "kind": kind, "examples": 1234, "wrong": 40, "worst": worst, **rest}


ANSWER = {
    "texts": "who?",
    "true": ["Ann Lee", "Ann"],
    "predicted": "Lee sings",
    "probability": 0.5,
    "excerpt": ["then ", "Ann Lee", " sings again"],
}
SHOWN = {
    "masked": [masked(10, "dog"), masked(20, "the")],
    "labels": [
        wrong(
            "labels",
            [{"texts": ["first text", "second text"], "true": "good", "predicted": "bad", "probability": 0.987}] * 30,
            labels=["good", "bad"],
            counts=[[7, 1], [2, 9]],
        )
    ],
    "numbers": [wrong("numbers", [{"texts": ["far off"], "true": 5.0, "predicted": 1.2345}], pairs=[[5, 1], [2, 2]])],
    "choices": [wrong("choices", [{"texts": "ctx", "true": "r", "predicted": "w", "probability": 0.5}])],
    "tags": [
        wrong(
            "tags",
            [{"words": ["Ann", "Lee", "sings"], "true": ["B-PER", "I-PER", "O"], "predicted": ["O", "B-LOC", "O"]}],
            labels=["B-LOC", "B-PER", "I-PER", "O"],
            counts=np.eye(4, dtype=int).tolist(),
        )
    ],
    "answers": [wrong("answers", [ANSWER])],
}


def write_run(folder, *, shown=(), metrics=METRICS, layers=LAYERS, **settings):
    folder.mkdir(exist_ok=True)
    values = {"corpus": ["books"], "seed": 0, **settings}
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (folder / "settings.toml").write_text("\n".join(lines), encoding="utf-8")
    for name, rows in ((METRICS_FILE, metrics), (LAYERS_FILE, layers), (SHOWN_FILE, shown)):
        if rows:
            (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return folder
