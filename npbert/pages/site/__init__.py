"""The reading site: the chapters, the source with each backward beside its forward, and the reference, as HTML."""

from npbert.pages.site.build import build_site
from npbert.pages.site.panels import ProofPanel, prove

__all__ = ["ProofPanel", "build_site", "prove"]
