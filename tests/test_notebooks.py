"""The notebooks of docs/notebooks run from the top to the end, and are checked in with what they say.

`python -m tests.test_notebooks` writes their outputs anew.
"""

import json
import os
import re
import socket
import tempfile
from pathlib import Path

import pytest

import npbert
from tests.later import later

NEEDED = ("nbclient", "nbformat", "ipykernel", "matplotlib", "tokenizers", "tensorboard", "tomlkit", "filelock")
nbclient, nbformat, *_ = (later(name, "-e '.[notebook]'") for name in NEEDED)

NOTEBOOKS = sorted(Path(__file__).parent.parent.glob("docs/notebooks/*.ipynb"))
OF_THIS_MACHINE = re.compile(
    r"/(home|root|tmp|work|Users|usr)/|at 0x|\b\d\d:\d\d:\d\d\b|<Figure|" + socket.gethostname()
)


def executed(path):
    """The notebook with new outputs, run in an empty folder, without the time of each cell."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "timeout": 120,
            "record_timing": False,
            "coalesce_streams": True,
            "resources": {"metadata": {"path": folder}},
        }
        env = {**os.environ, "PYTHONPATH": str(Path(npbert.__file__).parents[1])}  # found from that folder, too
        nbclient.NotebookClient(notebook, **options).execute(env=env)
    del notebook.metadata.language_info["version"]
    return notebook


def kinds(notebook):
    """Of each cell of code, the kinds of its outputs."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[sorted(out.get("data", [out.get("name")])) for out in cell["outputs"]] for cell in cells]


@pytest.mark.thorough
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_gives_outputs_of_the_kinds_that_are_checked_in(path):
    assert kinds(executed(path)) == kinds(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_outputs_checked_in_are_whole_and_of_no_machine(path):
    text = path.read_text("utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert len(text) < 150_000 and f"notebooks/{path.name}" in (path.parents[1] / "README.md").read_text("utf-8")
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for output in [output for cell in cells for output in cell["outputs"] or [None]]:
        assert output and output["output_type"] != "error" and output.get("name") != "stderr"
        said = {"text": output.get("text"), **output.get("data", {})}
        assert "image/png" in said or not OF_THIS_MACHINE.search(json.dumps(said))


if __name__ == "__main__":
    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)
