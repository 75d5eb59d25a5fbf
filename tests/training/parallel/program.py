"""A run that several processes share: `python -m tests.training.parallel.program FOLDER OPTIONS`.

OPTIONS is JSON: settings of the Trainer, and "fails": a step before which process 1 fails.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

from npbert.training import evaluate_losses, parallel
from tests.training.tiny import classifier, collate, examples, make_trainer, task_data

SETTINGS = {"steps": 12, "learning_rate": 3e-3, "parts": 4, "save_every": 2, "evaluate_every": 4, "log_every": 3}
SETTINGS["max_grad_norm"] = 0.1  # which clips every gradient


def fail():
    raise OSError(28, "No space left on device", "state.safetensors")


def make(folder, communicator, *, step=0, act=None, batch=4, model=None, collate=collate, **settings):
    """A Trainer of a classifier, with dropout and a held-out set; before a step, `act` is called."""
    model, held_out = model or classifier(), [collate(examples(8, seed=number)) for number in (8, 9, 10)]
    data = task_data(step, act, collate, batch)
    options = {"evaluate": lambda: evaluate_losses(model, held_out, ("",), communicator)}
    options |= {"goal": "loss", "communicator": communicator, **SETTINGS, **settings}
    return make_trainer(Path(folder), data=data, model=model, **options)


if __name__ == "__main__":
    parallel.PATIENCE = 0.5
    communicator = parallel.world()
    try:
        options = json.loads(sys.argv[2])
        step = options.pop("fails", 0) * communicator.rank
        trainer = make(sys.argv[1], communicator, step=step, act=fail, **options)
        trainer.train()
    except KeyboardInterrupt:
        sys.exit(130)
    values = b"".join(parameter.value.tobytes() for parameter in trainer.model.parameters())
    digests = communicator.gather(sha256(values).hexdigest())
    if communicator.is_first:
        print(json.dumps(digests))
