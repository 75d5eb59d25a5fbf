"""The notebooks of docs/notebooks run from the top to the end, and are checked in with what they say."""

import json
import re
import socket

import pytest

NEEDS = ("nbclient", "nbformat", "ipykernel", "matplotlib", "tokenizers", "tensorboard", "tomlkit", "filelock")
for needed in NEEDS:
    pytest.importorskip(needed, reason=f"{needed} is not installed: pip install -e '.[notebook]'")

from tests.notebooks import FOLDER, NOTEBOOKS, all_executed  # noqa: E402  they need what may be missing

MOST_BYTES = 150_000
OF_THIS_MACHINE = re.compile(
    r"/(home|root|tmp|work|Users|usr)/|object at 0x|\b\d\d:\d\d:\d\d\b|" + socket.gethostname()
)


def kinds(notebook):
    """Of each cell of code, the kinds of its outputs."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[sorted(out.get("data", [out.get("name")])) for out in cell["outputs"]] for cell in cells]


def test_each_notebook_runs_and_gives_outputs_of_the_kinds_that_are_checked_in():
    assert len(NOTEBOOKS) == 4
    for path, notebook in zip(NOTEBOOKS, all_executed(), strict=True):  # an error in a cell is raised
        assert kinds(notebook) == kinds(json.loads(path.read_text("utf-8"))), path.name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_outputs_checked_in_are_whole_and_of_no_machine(path):
    text = path.read_text("utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert len(text) < MOST_BYTES
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert cell["outputs"] and max(map(len, "".join(cell["source"]).splitlines())) <= 100
        for output in cell["outputs"]:
            assert output["output_type"] != "error" and output.get("name") != "stderr"
            data = {kind: "".join(said) for kind, said in output.get("data", {"text": output.get("text")}).items()}
            assert "image/png" in data or not OF_THIS_MACHINE.search("".join(data.values()))
            assert "image/png" in data or "<Figure" not in "".join(data.values())


def test_the_pages_of_docs_name_each_notebook():
    said = (FOLDER.parent / "README.md").read_text("utf-8")
    assert [path.name for path in NOTEBOOKS if f"notebooks/{path.name}" not in said] == []
