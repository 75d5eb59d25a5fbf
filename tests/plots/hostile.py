"""Texts that a corpus or a label may hold, and that a picture or a page must show as text."""

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'quoted' </svg>",
    "</script><!-- <script>",
    "line\u2028end\u2029",
    "$x_1$ and $\\frac{1}{2}$ $",
    "$$$ _under_ ^hat^ \\",
    "\u202eright to left",
    "אבג دهو",
    "日本語 😀 \U0001f9e0",
    "nul \x00 bell \x07 half \ud83d \ufffe",
    "two\nlines\tand a tab",
    "x" * 10_000,
    "",
]
