"""What is made once for all processes of pytest-xdist: the first that needs it makes it, the others wait for it."""

import time

HOME = []  # the folder that all processes know: see conftest.py


def once(name, write):
    """The path that write(path) has written, a file or a folder, in this process or in another."""
    path = HOME[0] / name
    begun, failed = path.with_suffix(".begun"), path.with_suffix(".failed")
    try:
        begun.mkdir()  # one process alone can
    except FileExistsError:
        for _ in range(6000):  # for five minutes
            if path.exists():
                return path
            assert not failed.exists(), f"another process could not make {name}"
            time.sleep(0.05)
        raise TimeoutError(name) from None
    try:
        write(begun / name)
        (begun / name).replace(path)
    except BaseException:
        failed.touch()
        raise
    return path
