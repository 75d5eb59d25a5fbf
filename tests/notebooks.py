"""The notebooks of docs/notebooks, run from the top. `python -m tests.notebooks` writes their outputs anew."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def executed(path):
    """The notebook with new outputs, run in a new kernel and in an empty folder, without the time of each cell."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=120, record_timing=False, resources=where).execute()
    del notebook.metadata.language_info["version"]
    return notebook


def all_executed():
    """Of each, two at a time: a kernel is a process of its own."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(executed, NOTEBOOKS))


if __name__ == "__main__":
    for path, notebook in zip(NOTEBOOKS, all_executed(), strict=True):
        nbformat.write(notebook, path)
