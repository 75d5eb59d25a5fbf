"""The estimators for scikit-learn on real text, beside TF-IDF with logistic regression.

    python benchmarks/estimators.py CHECKPOINT DATA

DATA is a folder with cola/ and gutenberg/ as published. The tables are Markdown: accuracy and Matthews' coefficient on
texts that nothing was learned from, and what a grid search over each estimator finds on a part of the authors.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, matthews_corrcoef
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from npbert.sklearn import SentenceVectors, TextClassifier

AUTHORS = {"Austen": "austen-emma", "Chesterton": "chesterton-brown", "Edgeworth": "edgeworth-parents",
           "Melville": "melville-moby_dick"}  # fmt: skip
OF_EACH = 1000  # sentences of each author
WORDS = (8, 40)  # in a sentence, at least and at most


class Texts(NamedTuple):
    """Texts with their labels, to learn from and to judge by."""

    train: list[str]
    labels: list[str]
    held_out: list[str]
    answers: list[str]


def cola(folder: Path, held_out: str) -> Texts:
    """Is the sentence acceptable? The label stands in column 1, the sentence in column 3."""
    sides: list[list[str]] = []
    for name in ("in_domain_train", held_out):
        with (folder / "cola" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        sides += [[row[3] for row in rows], [row[1] for row in rows]]
    return Texts(*sides)


def authors(folder: Path) -> Texts:
    """Who wrote the sentence? The first sentences of four books, a fifth of them held out."""
    texts: list[str] = []
    labels: list[str] = []
    for author, book in AUTHORS.items():
        lines = (folder / "gutenberg" / f"{book}.txt").read_text(encoding="utf-8").splitlines()
        found = [line for line in lines if WORDS[0] <= len(line.split()) <= WORDS[1]][:OF_EACH]
        texts += found
        labels += [author] * len(found)
    train, held_out, known, answers = train_test_split(texts, labels, test_size=0.2, stratify=labels, random_state=0)
    return Texts(train, known, held_out, answers)


def estimators(checkpoint: str, epochs: float) -> dict[str, Any]:
    """What is compared, by name."""
    regression = {"max_iter": 2000, "class_weight": None}
    return {
        "TF-IDF of words and pairs, logistic regression": make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression(C=10, **regression)
        ),
        "SentenceVectors, logistic regression": make_pipeline(
            SentenceVectors(checkpoint), LogisticRegression(**regression)
        ),
        f"TextClassifier, {epochs:g} epochs": TextClassifier(
            checkpoint, epochs=epochs, learning_rate=5e-5, max_length=64, random_state=0
        ),
    }


def compare(tasks: dict[str, Texts], checkpoint: str, epochs: float) -> None:
    print("| task | estimator | accuracy | Matthews | seconds to fit |\n|---|---|---|---|---|")
    fitted: dict[tuple[int, str], tuple[Any, float]] = {}  # CoLA's two held-out files share what is learned
    for task, (train, labels, held_out, answers) in tasks.items():
        for name, estimator in estimators(checkpoint, epochs).items():
            start = time.perf_counter()
            key = len(train), name
            if key not in fitted:
                fitted[key] = estimator.fit(train, labels), time.perf_counter() - start
            model, seconds = fitted[key]
            guesses = model.predict(held_out)
            scores = accuracy_score(answers, guesses), matthews_corrcoef(answers, guesses)
            print(f"| {task} | {name} | {scores[0]:.3f} | {scores[1]:.3f} | {seconds:.0f} |", flush=True)


def search_grids(texts: Texts, checkpoint: str, rows: int) -> None:
    """Two grids, each judged by cross-validation on the first `rows` texts."""
    tfidf, vectors, classifier = estimators(checkpoint, 1).values()
    grids = {
        "TF-IDF": (tfidf, {"logisticregression__C": [1, 10, 100]}),
        "SentenceVectors": (
            vectors, {"sentencevectors__pooling": ["mean", "cls"], "logisticregression__C": [0.1, 1, 10]}
        ),
        "TextClassifier": (classifier, {"learning_rate": [5e-5, 2e-4], "epochs": [1, 3]}),
    }  # fmt: skip
    print("\n| estimator | settings | best | accuracy, 3 folds | seconds |\n|---|---|---|---|---|")
    for name, (estimator, grid) in grids.items():
        start = time.perf_counter()
        search = GridSearchCV(estimator, grid, cv=3).fit(texts.train[:rows], texts.labels[:rows])
        best = ", ".join(f"{key.rpartition('__')[2]} {value}" for key, value in search.best_params_.items())
        tried, seconds = len(search.cv_results_["params"]), time.perf_counter() - start
        print(f"| {name} | {tried} | {best} | {search.best_score_:.3f} | {seconds:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("data", type=Path)
    parser.add_argument("--epochs", type=float, default=2.0, help="of TextClassifier (default: %(default)g)")
    parser.add_argument("--rows", type=int, default=480, help="of the authors in the grids (default: %(default)d)")
    args = parser.parse_args()
    tasks = {
        "CoLA, in-domain": cola(args.data, "in_domain_dev"),
        "CoLA, out of domain": cola(args.data, "out_of_domain_dev"),
        "four authors": authors(args.data),
    }
    compare(tasks, args.checkpoint, args.epochs)
    search_grids(tasks["four authors"], args.checkpoint, args.rows)


if __name__ == "__main__":
    main()
