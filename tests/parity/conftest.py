"""What is the same for all comparisons with torch."""

import pytest

from tests.parity import torch


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    torch.set_num_threads(1)  # at these sizes a second thread only costs
