"""`npbert demo`: the program at the top of the repository, of which a wheel has a copy inside of npbert."""

import sys
from collections.abc import Sequence
from pathlib import Path

import npbert
from npbert.cli.parser import Parser, Run


def run_demo(arguments: Sequence[str] = ()) -> int:
    """Run the program with its own options, and return 0. Raises: SystemExit where it ends otherwise."""
    package = Path(npbert.__file__).parent
    program = next(path for path in (package / "demo.py", package.parent / "demo.py") if path.is_file())
    sys.argv = ["npbert demo", *arguments]
    exec(compile(program.read_bytes(), program, "exec"), {"__name__": "__main__"})
    return 0


def add_demo_command(_: Parser) -> Run:
    """Watch a BERT learn a toy dialogue, then try it."""
    return lambda args: run_demo()
