"""The wheel holds demo.py, too, as npbert/demo.py: `npbert demo` runs it. README's links are relative; for a package
index, set NPBERT_ADDRESS to where the repository's files are on the web. All else is in pyproject.toml."""

import os
import re
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithDemo(build_py):
    """Copies the package, and demo.py into the copy; an editable install has no copy, and runs the file itself."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.copy_file("demo.py", str(Path(self.build_lib, "npbert")))


readme = Path("README.md").read_text(encoding="utf-8")
if address := os.environ.get("NPBERT_ADDRESS"):
    readme = re.sub(r"\]\((?!https:)", f"]({address}/", readme)
setup(cmdclass={"build_py": WithDemo}, long_description=readme, long_description_content_type="text/markdown")
