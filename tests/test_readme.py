"""The README's example, run as it stands there."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_the_example_trains(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    losses = [float(loss) for loss in re.findall(r"MLM loss (\d+\.\d+)", capsys.readouterr().out)]
    assert len(losses) == 10
    assert losses[-1] < losses[0] - 1


def test_it_fits_one_screen():
    assert len(README.splitlines()) < 70
