"""Exercise 1: the numerical derivative."""

from tests.learn.answers import FULL

RIGHT = {
    "central_difference": """
gradient = np.zeros(x.shape)
for index in np.ndindex(x.shape):
    up = x.copy()
    down = x.copy()
    up[index] += h
    down[index] -= h
    gradient[index] = (f(up) - f(down)) / (2 * h)
return gradient
""",
    "central_difference:in place": """
gradient = np.zeros(x.shape)
for index in np.ndindex(x.shape):
    start = x[index]
    x[index] = start + h
    up = f(x)
    x[index] = start - h
    down = f(x)
    x[index] = start
    gradient[index] = (up - down) / (2 * h)
return gradient
""",
    "complex_step": """
gradient = np.zeros(x.shape)
for index in np.ndindex(x.shape):
    moved = x.astype(complex)
    moved[index] += 1j * h
    gradient[index] = f(moved).imag / h
return gradient
""",
}
C, IN_PLACE, COMPLEX = RIGHT
LOOP, MOVED = "for index in np.ndindex(x.shape):\n", "moved = x.astype(complex)\n"
AT_ONCE = ("up[index] += h", "up += h", "down[index] -= h", "down -= h")
WRONG = [
    ("forward_difference", C, "(f(up) - f(down)) / (2 * h)", "(f(up) - f(x)) / h"),
    ("backward_difference", C, "(f(up) - f(down)) / (2 * h)", "(f(x) - f(down)) / h"),
    ("divided_by_h", C, "/ (2 * h)", "/ h"),
    ("not_divided", C, " / (2 * h)", ""),
    ("sign_turned", C, "f(up) - f(down)", "f(down) - f(up)"),
    ("all_at_once", C, *AT_ONCE),
    ("same_array", C, "down = x.copy()", "down = up"),
    ("x_left_moved", IN_PLACE, "    x[index] = start\n", ""),
    ("forward_difference_halved", C, "f(up) - f(down)", "f(up) - f(x)"),
    ("backward_difference_halved", C, "f(up) - f(down)", "f(x) - f(down)"),
    ("left_moved_and_divided_by_h", IN_PLACE, "    x[index] = start\n", "", "/ (2 * h)", "/ h"),
    ("turned_and_divided_by_h", C, "(f(up) - f(down)) / (2 * h)", "(f(down) - f(up)) / h"),
    ("all_at_once_divided_by_h", C, *AT_ONCE, "/ (2 * h)", "/ h"),
    ("one_number", C, FULL, "return (f(x + h) - f(x - h)) / (2 * h)"),
    ("one_number_divided_by_h", C, FULL, "return (f(x + h) - f(x - h)) / h"),
    ("moved_along_the_real_axis", COMPLEX, "1j * h", "h"),
    ("real_part", COMPLEX, ".imag", ".real"),
    ("imaginary_part_not_divided", COMPLEX, " / h", ""),
    ("divided_by_two", COMPLEX, "/ h", "/ (2 * h)"),
    ("all_at_once_in_the_complex_plane", COMPLEX, "moved[index] +=", "moved +="),
    ("sign_lost", COMPLEX, "f(moved).imag", "abs(f(moved).imag)"),
    ("stays_moved", COMPLEX, f"{LOOP}    {MOVED}", f"{MOVED}{LOOP}"),
    ("stays_moved_undivided", COMPLEX, f"{LOOP}    {MOVED}", f"{MOVED}{LOOP}", " / h", ""),
]
