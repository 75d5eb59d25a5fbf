"""The estimators as users of scikit-learn have them: its own checks, pipelines, grids, pickles and clones."""

import pickle
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted, validate_data

from npbert import BertModel, Embed
from npbert.sklearn import SentenceVectors, TextClassifier
from tests.inference.checkpoints import write_checkpoint

TEXTS = ["the cat sat", "a dog ran", "the cat ran on the mat", "a dog sat on the road"] * 4
LABELS = ["cat", "dog", "cat", "dog"] * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("checkpoint"), BertModel)


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    monkeypatch.setattr("npbert.training.session.draw_curves", lambda *_: None)


@pytest.fixture
def classifier(folder):
    return TextClassifier(folder, epochs=15, batch_size=8, learning_rate=2e-2, random_state=0)


class _OfNumbers:
    """Each row of numbers as a text, for checks of scikit-learn that know only numbers."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = False, True
        return tags

    def texts(self, X, **options):
        rows = validate_data(self, X, **options)
        return [" ".join("cat" if number > 0 else "dog" for number in row) for row in rows]

    def later(self, X):
        check_is_fitted(self)
        return self.texts(X, reset=False)


class VectorsOfNumbers(_OfNumbers, SentenceVectors):
    __init__ = SentenceVectors.__init__

    def fit(self, X, y=None):
        return super().fit(self.texts(X))

    def transform(self, X):
        return super().transform(self.later(X))


class ClassifierOfNumbers(_OfNumbers, TextClassifier):
    __init__ = TextClassifier.__init__

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        return super().fit(["cat " * int(row[0] > 0) + "dog" for row in X], y)

    def predict_proba(self, X):
        return super().predict_proba(self.later(X))


ROUNDED = {"check_methods_sample_order_invariance": "wants 1e-7; in float32 a product rounds its rows by their place"}


@pytest.mark.parametrize(
    ("kind", "legacy", "least"), [(VectorsOfNumbers(), True, 44), (ClassifierOfNumbers(epochs=0.1), False, 15)]
)  # legacy: all checks; of the classifier these are 50, and take ten seconds, for a fifth of a second each fit
def test_scikit_learn_checks_it(kind, legacy, least, folder):
    passed = 0
    kind.set_params(model=folder)
    for estimator, check in estimator_checks_generator(
        kind, legacy=legacy, expected_failed_checks=ROUNDED, mark="skip"
    ):
        try:
            check(estimator)
            passed += 1
        except SkipTest:  # what is not installed here, pandas say
            pass
    assert passed >= least


def test_vectors_are_those_of_embed_before_and_after_a_pickle(folder):
    vectors = SentenceVectors(folder, pooling="cls", normalize=True).fit(TEXTS)
    wanted = Embed.from_pretrained(folder, pooling="cls", normalize=True)(TEXTS)
    np.testing.assert_array_equal(vectors.transform(np.array(TEXTS)), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(vectors)).transform(TEXTS), wanted)
    assert list(vectors.get_feature_names_out()) == [f"sentencevectors{i}" for i in range(12)]
    with pytest.raises(NotFittedError):
        clone(vectors).transform(TEXTS)


def test_a_classifier_learns_labels_of_any_kind_and_gives_them_back(classifier):
    labels = np.array([-3, 7] * 8)
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        fitted = classifier.fit(TEXTS, labels[:, None])
    assert fitted.classes_.tolist() == [-3, 7] and fitted.score(TEXTS, labels) == 1
    p = fitted.predict_proba(TEXTS)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], labels)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(TEXTS), p)
    assert fitted.classify_(TEXTS[0]).scores == pytest.approx({"-3": p[0, 0], "7": p[0, 1]})
    again = clone(classifier).fit(TEXTS, LABELS)
    assert again.classify_("the cat sat").label == "cat"
    np.testing.assert_array_equal(again.predict_proba(TEXTS), p)
    np.testing.assert_array_equal(again.predict(TEXTS), LABELS)


def test_what_counts_nothing_is_not_learned(classifier):
    """Half of the labels are wrong, and have no weight."""
    wrong = ["dog" if label == "cat" else "cat" for label in LABELS]
    texts, labels, weights = TEXTS * 2, [*LABELS, *wrong], np.repeat([2.0, 0.0], len(LABELS))
    classifier.set_params(batch_size=32, epochs=60)
    np.testing.assert_array_equal(classifier.fit(texts, labels, sample_weight=weights).predict(TEXTS), LABELS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier.fit(texts, labels, sample_weight=weights[1:])


def test_what_is_held_back_takes_its_weights_with_it(classifier, monkeypatch):
    seen, weights = [], dict(zip(TEXTS, range(1, 5), strict=False))

    def fake(texts, labels, *, sample_weight, held_out, **_):
        seen.append((texts, labels, sample_weight, held_out))

    monkeypatch.setattr("npbert.sklearn.text_classifier.finetune", fake)
    classifier.set_params(early_stopping=True, validation_fraction=0.25)
    classifier.fit(TEXTS, LABELS, sample_weight=np.array([weights[text] for text in TEXTS]))
    ((texts, labels, kept, (held_texts, held_labels)),) = seen
    assert kept == [weights[text] for text in texts] and len(texts) == 12
    assert sorted(zip(texts + held_texts, labels + held_labels, strict=True)) == sorted(zip(TEXTS, LABELS, strict=True))


def test_both_serve_in_pipelines_and_grids(folder, classifier):
    pipeline = make_pipeline(SentenceVectors(folder), LogisticRegression(C=1e4))
    grid = GridSearchCV(pipeline, {"sentencevectors__pooling": ["mean", "max"]}, cv=2).fit(TEXTS, LABELS)
    assert grid.best_score_ == 1
    grid = GridSearchCV(classifier.set_params(batch_size=4, learning_rate=1e-2), {"epochs": [0.25, 30]}, cv=2).fit(
        TEXTS, LABELS
    )
    assert grid.best_params_ == {"epochs": 30} and grid.best_score_ == 1


def test_it_stops_early_where_nothing_gets_better(classifier, capsys):
    pairs, labels = [(text, text) for text in TEXTS], ["cat", "cat", "dog", "dog"] * 2 + LABELS[:8]
    classifier.set_params(early_stopping=True, validation_fraction=0.25, n_iter_no_change=1, epochs=30)
    assert classifier.set_params(verbose=True).fit(pairs, labels).predict(pairs).shape == (16,)
    steps = [
        int(line.split()[1].strip(":")) for line in capsys.readouterr().out.splitlines() if line.startswith("step")
    ]
    assert max(steps) < 60
    classifier.set_params(verbose=False).fit(pairs, labels)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("X", "said"),
    [("a cat", "X is 'a cat', wanted several texts"), ([], "no texts"), ([1.5], "row 0 of X is 1.5, wanted a text"),
     ([("a", "b", "c")], "wanted a text, or a pair of texts"),
     (np.array([["a", 1]], object), "X is a table of 2 columns; choose the column of the texts")],
)  # fmt: skip
def test_what_is_no_text_is_named(X, said, folder):
    with pytest.raises(ValueError, match=said):
        SentenceVectors(folder).fit(X)


@pytest.mark.parametrize(
    ("labels", "said"),
    [(["cat"] * 16, "y has one class, 'cat'"), (LABELS[1:], "inconsistent numbers of samples"),
     (["cat", None] * 8, "row 1 of y is None, wanted a label"), ([float("nan"), "cat"] * 8, "row 0 of y is nan"),
     ([["cat", "dog"], ["cat"]] * 8, r"row 0 of y is \['cat', 'dog'\]"),
     (np.ones((16, 2)), r"should be a 1d array, got an array of shape \(16, 2\)")],
)  # fmt: skip
def test_labels_that_teach_nothing_are_refused(labels, said, classifier):
    with pytest.raises(ValueError, match=said):
        classifier.fit(TEXTS, labels)


def test_what_is_missing_or_cannot_be_held_back_is_named(classifier):
    for estimator in (SentenceVectors(), TextClassifier()):
        with pytest.raises(ValueError, match="model is missing: wanted the folder of a checkpoint"):
            estimator.fit(TEXTS, LABELS)
    classifier.set_params(early_stopping=True)
    with pytest.raises(
        ValueError,
        match=r"validation_fraction is 0.1, which does not split .*Classes .* are: \['rare'\]",
    ):
        classifier.fit(TEXTS, [*LABELS[1:], "rare"])
    with pytest.raises(ValueError, match=r"validation_fraction is 1\.5, wanted a number between 0 and 1"):
        classifier.set_params(validation_fraction=1.5).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"epochs": 0.0}, "epochs is 0.0, wanted a positive number"), ({"warmup": 1.0}, "warmup is 1.0, wanted "
        "at least 0 and less than 1"),
     ({"early_stopping": True, "n_iter_no_change": -1}, "n_iter_no_change is -1, wanted at least 0"),
     ({"max_length": 0}, "max_length is 0, wanted at least 8")],
)  # fmt: skip
def test_a_wrong_parameter_is_called_as_it_is_here(wrong, said, classifier):
    with pytest.raises(ValueError, match=f"^{said}"):
        classifier.set_params(**wrong).fit(TEXTS, LABELS)


def test_texts_may_come_from_a_generator_and_cuts_are_told_at_the_users_line(folder):
    pipeline = make_pipeline(SentenceVectors(folder, max_length=5), LogisticRegression())
    with pytest.warns(UserWarning, match="longer than the 5 tokens that max_length allows") as told:
        pipeline.fit((text for text in TEXTS), LABELS)
    assert [warning.filename for warning in told] == [__file__]
