"""The reading site: the chapters, the source with each backward beside its forward, and the reference, as HTML."""

from npbert.pages.site.build import build_site
from npbert.pages.site.panels import Proof, prove

__all__ = ["Proof", "build_site", "prove"]
