"""The wheel holds demo.py, too, as npbert/demo.py: `npbert demo` runs it. All else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithDemo(build_py):
    """Copies the package, and demo.py into the copy; an editable install has no copy, and runs the file itself."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("demo.py", str(Path(self.build_lib, "npbert")))


setup(cmdclass={"build_py": WithDemo})
