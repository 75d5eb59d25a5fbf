"""Estimators for scikit-learn: a BERT in a Pipeline, a grid search, a cross-validation. (Extra: sklearn.)

from npbert.sklearn import SentenceVectors, TextClassifier
make_pipeline(SentenceVectors("folder"), LogisticRegression()).fit(texts, labels)
TextClassifier("folder", epochs=2).fit(texts, labels).predict(["a new text"])
"""

from npbert.sklearn.sentence_vectors import SentenceVectors
from npbert.sklearn.text_classifier import TextClassifier

__all__ = ["SentenceVectors", "TextClassifier"]
