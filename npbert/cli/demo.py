"""`npbert demo`: demo.py at the top of the repository, or its copy in a wheel."""

import runpy
from pathlib import Path

import npbert

_PACKAGE = Path(npbert.__file__).parent
_PROGRAM = next(path for path in (_PACKAGE / "demo.py", _PACKAGE.parent / "demo.py") if path.is_file())
DemoCommand = runpy.run_path(str(_PROGRAM))["DemoCommand"]
