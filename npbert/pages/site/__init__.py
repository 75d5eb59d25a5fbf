"""The reading site, built by Sphinx: chapters, layers with each forward beside its backward, and the reference."""

from npbert.pages.site.build import build_site
from npbert.pages.site.proofs import prove

__all__ = ["build_site", "prove"]
