"""The web site, built by Sphinx: chapters, layers with forward next to backward, and the reference."""
