"""Exercise 3: GELU."""

RIGHT = {
    "GELU.value_and_slope": """
y = self.value(x)
cdf = _cdf(x)
density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
slope = cdf + x * density
return y, slope
""",
}
B, SLOPE, DENSITY = "GELU.value_and_slope", "cdf + x * density", "np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)"
WRONG = [
    ("product_rule_cut_short", B, SLOPE, "cdf"),
    ("factor_forgotten", B, SLOPE, "x * density"),
    ("density_without_x", B, SLOPE, "cdf + density"),
    ("slope_of_the_cdf", B, SLOPE, "density"),
    ("density_not_normalised", B, " / math.sqrt(2 * math.pi)", ""),
    ("exponent_not_halved", B, "-(x**2) / 2", "-(x**2)"),
    ("inner_derivative_forgotten", B, "math.sqrt(2 * math.pi)", "math.sqrt(math.pi)"),
    ("half_forgotten", B, SLOPE, "cdf + 2 * x * density"),
    ("sign_lost", B, SLOPE, "cdf - x * density"),
    (
        "slope_of_the_tanh_form",
        B,
        "cdf = _cdf(x)",
        "c = math.sqrt(2 / math.pi)\ncdf = 0.5 * (1 + np.tanh(c * (x + 0.044715 * x**3)))",
        DENSITY,
        "2 * cdf * (1 - cdf) * c * (1 + 3 * 0.044715 * x**2)",
    ),
    ("half_outside", B, "np.exp(-(x**2) / 2)", "np.exp(-(x**2)) / 2"),
    ("exponent_not_squared", B, "-(x**2) / 2", "-abs(x) / 2"),
    ("exponent_without_minus", B, "-(x**2) / 2", "x**2 / 2"),
    ("value_and_slope_swapped", B, "return y, slope", "return slope, y"),
]
