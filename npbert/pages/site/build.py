"""build_site: writes the pages as Markdown, and builds a site with Sphinx."""

import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from npbert.catalogue import CATALOGUE
from npbert.data import load_dialogue
from npbert.gradcheck import check_gradients
from npbert.io import EXTRAS, LOGGER, FileError, import_extra, write_text
from npbert.learn.demo import make_model, train
from npbert.pages.number.export import dialogue_data
from npbert.pages.site.sources import PACKAGE, site_sources

CONFIGURATION = {
    "project": "npbert",
    "extensions": ["myst_parser", "sphinx.ext.autodoc"],
    "html_theme": "furo",
    "html_title": "npbert, to read",
    "html_static_path": [str(PACKAGE / "pages" / "site" / "static")],
    "html_css_files": ["site.css"],
    "html_extra_path": ["_extra"],
    "html_copy_source": False,
    "html_show_search_summary": False,  # a browser cannot fetch it for a page from disk
    "myst_heading_anchors": 4,
    "highlight_language": "text",
    "default_role": "py:obj",
    "autodoc_member_order": "bysource",
    "autodoc_default_options": {"exclude-members": "set_fit_request, set_score_request"},  # scikit-learn's
    # A name may be public in several packages, and a line "…" marks an omission in a quotation.
    "suppress_warnings": ["ref.python", "misc.highlighting_failure"],
}
WHOLE = "file"
"""The class of a code block with a whole file, whose lines have addresses: #L-12."""


def build_site(folder: Path) -> int:
    """Check every derivative, write the site into a new folder or over an earlier site, and return the number of its
    pages. The chapters and planted bugs are those of the repository, if npbert is in it.

    Raises: FileExistsError if the folder has other files, or OSError if it cannot be written, both before the check;
    FileError for Sphinx's warnings, such as a broken link; ImportError without the extra `site`; ValueError for
    a wrong derivative.
    """
    for module in EXTRAS["site"]:
        import_extra(module)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / ".buildinfo").is_file():
        raise FileExistsError(f"{folder} has files that are not of a site; choose a new folder")
    with tempfile.TemporaryDirectory(prefix=".npbert-site.", dir=folder) as work:
        LOGGER.info("checking every derivative and training a small model (up to a minute), then writing")
        proofs, number = prove(), number_data()
        source, made, root = Path(work, "source"), Path(work, "site"), PACKAGE.parent
        if (root / "docs").is_dir():
            shutil.copytree(root / "docs", source / "docs")
        for path, text in site_sources(root, proofs, number).items():
            write_text(source / path, text)
        _run_sphinx(source, made)
        shutil.copytree(made, folder, dirs_exist_ok=True)
        return len(list(made.rglob("*.html")))


def number_data(steps: int = 1600) -> dict[str, Any]:
    """Return the data of the page "Follow one number back", for exactly the model of `python demo.py --page`, trained
    in about five seconds."""
    rng, dialogue = np.random.default_rng(0), load_dialogue(9)
    model = make_model(rng, 8, 2, np.float32)
    train(model, {}, rng, LOGGER.debug, steps=steps, lr=1e-2)
    return dialogue_data(model, dialogue, np.random.default_rng(0))


def prove() -> dict[str, str]:
    """Check every block of the catalogue, in seconds. Returns each result by the name of the block.

    Raises: ValueError for an unproved derivative.
    """
    proofs = {}
    for block, setting in CATALOGUE.items():
        layer, inputs, rng = setting.make()
        report = check_gradients(layer, *inputs, rng=rng)
        if not (report.ok and report.proof):
            raise ValueError(f"a derivative is wrong, so no site is written: {block}: {report}")
        proofs[block] = str(report)
    return proofs


def _run_sphinx(source: Path, made: Path) -> None:
    """Run Sphinx. Raises: FileError with its warnings."""
    application = import_extra("sphinx.application").Sphinx
    namespace = import_extra("sphinx.util.docutils").docutils_namespace
    warnings = io.StringIO()
    with namespace():  # Sphinx's roles and directives end with it
        folders = source, None, made, source / ".doctrees"
        app = application(*folders, "html", CONFIGURATION, status=None, warning=warnings)
        app.connect("doctree-read", _number_lines)
        app.build()
    if warnings.getvalue():
        raise FileError(f"the site has broken pages: {warnings.getvalue().replace(f'{source}/', '')}")


def _number_lines(app: Any, doctree: Any) -> None:
    """Give each line of a whole file an address."""
    for node in doctree.findall(lambda node: WHOLE in getattr(node, "attributes", {}).get("classes", [])):
        node["highlight_args"]["lineanchors"] = "L"
