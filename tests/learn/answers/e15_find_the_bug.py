"""Exercise 15: find the bug."""

RIGHT = {
    "ANSWERS": """
"a": "right",
"b": "b2",
"c": "c2",
"d": "right",
"e": "e4",
"f": "right",
"g": "g3",
"h": "h3",
"i": "i2",
"j": "right",
"k": "k7",
"l": "right",
""",
}
FINE, BROKEN = "adfjl", {"b": "b2", "c": "c2", "e": "e4", "g": "g3", "h": "h3", "i": "i2", "k": "k7"}
WRONG = [
    *((f"{letter}_is_{letter}1", "ANSWERS", f'"{letter}": "right"', f'"{letter}": "{letter}1"') for letter in FINE),
    *((f"{letter}_is_right", "ANSWERS", f'"{line}"', '"right"') for letter, line in BROKEN.items()),
]
