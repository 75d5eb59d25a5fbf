"""The estimators as users of scikit-learn have them: its own checks, pipelines, grids, pickles and clones."""

import pickle
from unittest import SkipTest

import numpy as np
import pytest

from npbert import Embed
from tests.later import Later

ours, of_numbers = Later("npbert.sklearn"), Later("tests.sklearn.of_numbers")
base, exceptions, checks = map(Later, ("sklearn.base", "sklearn.exceptions", "sklearn.utils.estimator_checks"))
linear_model, selection, pipelines = map(Later, ("sklearn.linear_model", "sklearn.model_selection", "sklearn.pipeline"))

TEXTS = ["the cat sat", "a dog ran", "the cat ran on the mat", "a dog sat on the road"] * 2
LABELS = ["cat", "dog"] * 4


@pytest.fixture(scope="module")
def folder(checkpoints):
    return checkpoints["embed"]


@pytest.fixture
def classifier(folder):
    return ours.TextClassifier(folder, epochs=20, batch_size=8, learning_rate=3e-2, random_state=3)


ROUNDED = {"check_methods_sample_order_invariance": "wants 1e-7; in float32 a product rounds its rows by their place"}


@pytest.mark.parametrize(
    ("name", "options", "legacy", "least"),
    [
        ("VectorsOfNumbers", {}, True, 44),
        pytest.param("ClassifierOfNumbers", {"epochs": 0.1}, False, 15, marks=pytest.mark.thorough),  # a fit takes long
    ],
)
def test_scikit_learn_checks_it(name, options, legacy, least, folder):
    passed = 0
    kind = getattr(of_numbers, name)(folder, **options)
    how = {"legacy": legacy, "expected_failed_checks": ROUNDED, "mark": "skip"}
    for estimator, check in checks.estimator_checks_generator(kind, **how):
        try:
            check(estimator)
            passed += 1
        except SkipTest:  # what is not installed here, pandas say
            pass
    assert passed >= least


def test_vectors_are_those_of_embed_before_and_after_a_pickle(folder):
    vectors = ours.SentenceVectors(folder, pooling="cls", normalize=True).fit(TEXTS)
    wanted = Embed.from_pretrained(folder, pooling="cls", normalize=True)(TEXTS)
    np.testing.assert_array_equal(vectors.transform(np.array(TEXTS)), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(vectors)).transform(TEXTS), wanted)
    assert list(vectors.get_feature_names_out()) == [f"sentencevectors{i}" for i in range(12)]
    with pytest.raises(exceptions.NotFittedError):
        base.clone(vectors).transform(TEXTS)
    vectors = ours.SentenceVectors(folder, max_length=5)
    pipeline = pipelines.make_pipeline(vectors, linear_model.LogisticRegression())
    with pytest.warns(UserWarning, match="cut to the 5 tokens that max_length allows") as told:
        pipeline.fit(TEXTS, LABELS)
    assert [warning.filename for warning in told] == [__file__], "at the user's line"


def test_a_classifier_learns_labels_of_any_kind_and_gives_them_back(classifier, capsys):
    labels = np.array([-3, 7] * 4)
    with pytest.warns(exceptions.DataConversionWarning, match="A column-vector y was passed"):
        fitted = classifier.fit(TEXTS, labels[:, None])
    assert capsys.readouterr().out == "", "verbose is False"
    assert fitted.classes_.tolist() == [-3, 7] and fitted.score(TEXTS, labels) == 1
    p = fitted.predict_proba(TEXTS)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], labels)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(TEXTS), p)
    assert fitted.classify_(TEXTS[0]).scores == pytest.approx({"-3": p[0, 0], "7": p[0, 1]})
    grid = selection.GridSearchCV(classifier, {"epochs": [0.25]}, cv=2, refit=False).fit(TEXTS, LABELS)
    assert 0 <= grid.best_score_ <= 1


def test_what_is_held_back_takes_its_weights_with_it(classifier, monkeypatch):
    seen, weights = [], dict(zip(TEXTS, range(1, 5), strict=False))
    monkeypatch.setattr("npbert.sklearn.finetune", lambda *lists, **options: seen.append((lists, options)))
    classifier.set_params(early_stopping=True, validation_fraction=0.25, class_weight="balanced")
    classifier.fit(TEXTS, LABELS, sample_weight=np.array([weights[text] for text in TEXTS]))
    (((texts, labels), options),) = seen
    held_texts, held_labels = options["held_out"]
    assert options["sample_weight"] == [weights[text] for text in texts] and len(texts) == 6
    assert sorted(zip(texts + held_texts, labels + held_labels, strict=True)) == sorted(zip(TEXTS, LABELS, strict=True))
    assert (options["class_weight"], "max_length" in options) == ("balanced", False)


def test_it_stops_early_where_nothing_gets_better(classifier, capsys):
    pairs, labels = [(text, text) for text in TEXTS * 2], ["cat", "cat", "dog", "dog"] * 2 + LABELS
    classifier.set_params(early_stopping=True, validation_fraction=0.25, n_iter_no_change=1, verbose=True)
    assert classifier.fit(pairs, labels).predict(pairs).shape == (16,)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("step")]
    assert max(int(line.split()[1].strip(":")) for line in lines) < 60


@pytest.mark.parametrize(
    ("X", "said"),
    [("a cat", "X is 'a cat', wanted several texts"), ([], "no texts"), ([1.5], "row 0 of X is 1.5, wanted a text"),
     ([("a", "b", "c")], "wanted a text, or a pair of texts"),
     (np.array([["a", 1]], object), "row 0 of X is .*, wanted a text")],
)  # fmt: skip
def test_what_is_no_text_is_named(X, said, folder):
    with pytest.raises(ValueError, match=said):
        ours.SentenceVectors(folder).fit(X)


EARLY = {"early_stopping": True}


@pytest.mark.parametrize(
    ("labels", "changes", "said"),
    [(["cat"] * 8, {}, "all labels are 'cat'"), (LABELS[1:], {}, "inconsistent numbers of samples"),
     (["cat", None] * 4, {}, "row 1 of y is None, wanted a label"),
     ([float("nan"), "cat"] * 4, {}, "row 0 of y is nan"),
     (LABELS, {"model": ""}, "model is missing, wanted the folder of a checkpoint"),
     ([*LABELS[1:], "rare"], EARLY, "Classes .* are: .*rare"),
     (LABELS, {**EARLY, "validation_fraction": 1.5}, "The .test_size. parameter"),
     (LABELS, {**EARLY, "validation_fraction": 0.5, "n_iter_no_change": -1}, "n_iter_no_change is -1, wanted at least"),
     (LABELS, {"max_length": 7}, "max_length is 7, wanted 0 or at least 8")],
)  # fmt: skip
def test_labels_and_parameters_that_teach_nothing_are_refused(labels, changes, said, classifier):
    with pytest.raises(ValueError, match=said):
        classifier.set_params(**changes).fit(TEXTS, labels)
