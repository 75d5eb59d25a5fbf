"""npbert against PyTorch: all of it is skipped where torch is missing, before any module here imports it."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch==2.13.0")
torch.set_num_threads(1)  # at these sizes a second thread only costs
