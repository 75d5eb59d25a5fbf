"""The report of a run: one page of pictures and tables, from the files in its folder."""
