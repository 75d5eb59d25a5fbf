"""Follow one number back: a page that shows a small BERT whole, forward and backward, and where every number is from."""
