"""The fixture `assert_proved` for pytest. pytest loads this file in each run, and npbert only when it is used."""

from collections.abc import Callable
from typing import Any

from npbert.io import import_extra

pytest = import_extra("pytest")


@pytest.fixture
def assert_proved() -> Callable[..., Any]:
    """`npbert.gradcheck.assert_proved`, whose failure is only the report with the wrong line, without a traceback."""

    def check(given: Any, *inputs: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        from npbert import gradcheck

        try:
            return gradcheck.assert_proved(given, *inputs, **options)
        except gradcheck.GradientError as error:
            failed = str(error)
        return pytest.fail(failed, pytrace=False)

    return check
