"""Follow one number back: a page that shows a small BERT whole, with the origin of every number."""
