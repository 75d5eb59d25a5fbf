"""The web site, built by Sphinx: chapters, layers with forward next to backward, and the reference."""

from npbert.pages.site.build import build_site
from npbert.pages.site.proofs import prove

__all__ = ["build_site", "prove"]
