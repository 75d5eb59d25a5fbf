"""Pages to look at: a number followed back through a BERT, the report of a run, and the site to read the source on."""
