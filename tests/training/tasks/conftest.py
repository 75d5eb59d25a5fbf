"""The tokenizer of tiny.py, and files that are written and read by a task."""

import pytest

from npbert.training.tasks import TaskSettings
from tests.training.tasks.tiny import tiny_tokenizer


@pytest.fixture(scope="session")
def tokenizer():
    return tiny_tokenizer()


@pytest.fixture
def read(tmp_path, tokenizer):
    """read(TextClassification, "a\tyes\n", text="0") -> the task and its examples; or a task that there is, again."""

    def read(task, content, name="a.tsv", labels=None, **settings):
        if isinstance(task, type):
            task = task(TaskSettings(**{"max_length": 32, **settings}), tokenizer, labels)
        (tmp_path / name).write_text(content, encoding="utf-8")
        return task, task.read(str(tmp_path / name))

    return read
