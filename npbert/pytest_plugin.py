"""The fixture `assert_proved` for pytest. pytest loads this file in each run, and npbert only when it is used."""

from collections.abc import Callable
from typing import Any

from npbert.io import import_extra

pytest = import_extra("pytest")


@pytest.fixture
def assert_proved() -> Callable[..., Any]:
    """`npbert.gradcheck.assert_proved`, whose failure is the report with the wrong line, below the line of the test."""
    from npbert import gradcheck

    return gradcheck.assert_proved
