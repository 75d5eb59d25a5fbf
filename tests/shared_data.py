"""Real text and labels that lie beside the repository, for tests that read what nobody here wrote."""

from pathlib import Path

import pytest


def shared_file(name):
    """A file in the folder shared/data beside the repository; where there is none, the test that asks is skipped."""
    (path,) = shared_files(name, 1)
    return path


def shared_files(pattern, count):
    """The files there that fit the pattern, by name; unless there are so many, the test that asks is skipped."""
    files = sorted((Path(__file__).parents[2] / "shared" / "data").glob(pattern))
    if len(files) != count:
        pytest.skip(f"the shared data sets are not there: no shared/data/{pattern}")
    return files
