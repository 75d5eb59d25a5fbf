"""The estimators for rows of numbers, each as a text, for checks of scikit-learn that know only numbers. (Imported by a
test: scikit-learn takes seconds.)"""

from sklearn.utils.validation import check_is_fitted, validate_data

from npbert.sklearn import SentenceVectors, TextClassifier


class _OfNumbers:
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
