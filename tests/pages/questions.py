"""All that the tests of the page's arithmetic ask JavaScript, in one run of node for all processes."""

import json
import subprocess
from pathlib import Path

import numpy as np

import npbert
from npbert.pages.number.export import export
from tests.pages import models
from tests.pages.shared import once

MATH = Path(npbert.__file__).parent / "pages" / "number" / "js" / "math"
SCRIPT = Path(__file__).parent / "node" / "arithmetic.mjs"
MOVED = {"name": "bert.encoder.layers.0.attention.query.weight", "row": 1, "column": 2}
OPTIMIZER = {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}
ROOM = "--max-semi-space-size=64"  # megabytes for what is new: with less, a fifth of the time is tidying up
COMPLEX = [  # far from the real numbers, where every rule of complex numbers counts
    ("bert.encoder.layers.0.attention.query.weight", 1, 0.3 + 0.4j),
    ("bert.encoder.layers.0.feed_forward.intermediate.weight", 2, -0.5 + 0.7j),
    ("bert.encoder.layers.0.output_norm.gamma", 0, 0.4 - 0.6j),
    ("bert.embeddings.word_embeddings.weight", 4, -1 + 0.5j),
]
COMPLEX_ERF = {  # by scipy.special.erf
    (0.5, 0.3): (0.5615651885242132, 0.2676058649576036),
    (1.9, -1.0): (1.0086246645364676, 0.015952122049101833),
    (-2.5, 0.7): (-1.0005330591707435, -0.00036596180362486846),
    (3.0, 2.0): (0.9989632788568172, -1.1546724379290491e-05),
    (0.1, 1e-20): (0.11246291601828462, 1.1171516067889372e-20),
    (-4.0, 1e-25): (-0.9999999845827421, 1.2698234671866564e-32),
}

ERF_AT = [*np.linspace(-7, 7, 2801).tolist(), 1e-300, 1e-9, 2 - 1e-15, 30.0, 0.0]


def answers():
    """All the answers, by name."""
    questions = {
        "models": [
            export(one, models.EXAMPLES, models.VOCABULARY, optimizer=OPTIMIZER) for one in models.make_models()
        ],
        "moved": {**MOVED, "values": np.linspace(-1, 1, 5).tolist()},
        "complex": [
            {"name": name, "row": row, "column": 1, "value": {"re": value.real, "im": value.imag}}
            for name, row, value in COMPLEX
        ],
        "erf": ERF_AT,
        "complexErf": list(COMPLEX_ERF),
    }
    node = models.find_node()

    def ask(path):
        (asked := path.with_name("questions.json")).write_text(json.dumps(questions), encoding="utf-8")
        subprocess.run([node, ROOM, str(SCRIPT), str(MATH), str(asked), str(path)], check=True, timeout=300)

    return json.loads(once("answers.json", ask).read_text(encoding="utf-8"))
