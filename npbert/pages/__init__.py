"""HTML pages: a number followed back through a BERT, the report of a run, and the site of source and docs."""

from npbert.pages.number import dialogue_data, export, write_number_page

__all__ = ["write_number_page", "dialogue_data", "export"]
