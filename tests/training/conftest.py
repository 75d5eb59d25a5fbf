"""Runs here draw no picture: one takes longer than a run. test_plot.py looks at them."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def no_picture() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("npbert.training.trainer.draw_curves", lambda *_: None)
        yield
