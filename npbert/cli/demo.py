"""`npbert demo`: the program at the top of the repository, of which a wheel has a copy inside of npbert."""

import runpy
from pathlib import Path

import npbert

_PACKAGE = Path(npbert.__file__).parent
_PROGRAM = next(path for path in (_PACKAGE / "demo.py", _PACKAGE.parent / "demo.py") if path.is_file())
DemoCommand = runpy.run_path(str(_PROGRAM))["DemoCommand"]
