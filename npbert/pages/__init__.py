"""HTML pages: a number followed back through a BERT, the report of a run, and the site of source and docs."""
