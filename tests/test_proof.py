"""The catalogue of proofs, and the table it prints."""

from unittest import mock

import numpy as np
from npbert.proof import blocks, prove_all

from npbert import GELU


def test_every_block_is_proved(capsys):
    assert prove_all()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(list(blocks(np.random.default_rng(0)))) + 2
    assert "each proved in two ways" in lines[-1]


def test_a_wrong_derivative_is_shown(capsys):
    few = [(name, layer, inputs) for name, layer, inputs in blocks(np.random.default_rng(0)) if "GELU" in name]
    with (
        mock.patch("npbert.proof.blocks", lambda rng: iter(few)),
        mock.patch.object(GELU, "backward", lambda self, dy, cache: dy * cache[1]),
    ):
        assert not prove_all()
    out = capsys.readouterr().out
    assert "WRONG, 120 derivatives of x; the worst:\n  x[" in out
    assert "240 derivatives, NOT ALL proved" in out
