"""The tokenizer of tiny.py, and files that are written and read by a task."""

import pytest

from npbert.training.tasks import TaskSettings
from tests.training.tasks.tiny import Planted, tiny_tokenizer


@pytest.fixture(scope="session")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture
def read(tmp_path, tokenizer):
    """read(TextClassification, "a\tyes\n", text="0") -> the task, whose model says what `task.model.answer` is set to,
    and its examples; or a task that there is, again."""

    def read(task, content, name="a.tsv", labels=None, **settings):
        path, is_new = str(tmp_path / name), isinstance(task, type)
        (tmp_path / name).write_text(content, encoding="utf-8")
        kind = task if is_new else type(task)
        settings = TaskSettings(**{"max_length": 32, **settings}) if is_new else task.settings
        kind.check(settings)
        rows, labels = kind.read(path, settings, labels if is_new else task.labels)
        task = kind(Planted(tokenizer, labels=labels), tokenizer, settings) if is_new else task
        return task, task.prepare(rows, path)

    return read
