"""Exercise 4: softmax."""

RIGHT = {
    "Softmax.backward": """
dot = (dp * p).sum(axis=-1, keepdims=True)
dx = p * (dp - dot)
return dx
""",
}
B, DOT, DX = "Softmax.backward", "(dp * p).sum(axis=-1, keepdims=True)", "p * (dp - dot)"
WRONG = [
    ("diagonal_alone", B, DX, "p * (1 - p) * dp"),
    ("sum_forgotten", B, DX, "p * dp"),
    ("plain_mean", B, "(dp * p).sum", "dp.mean"),
    ("plain_sum", B, "(dp * p).sum", "dp.sum"),
    ("mean_of_the_products", B, "(dp * p).sum", "(dp * p).mean"),
    ("summed_over_the_rows", B, "axis=-1", "axis=0"),
    ("summed_over_everything", B, ".sum(axis=-1, keepdims=True)", ".sum()"),
    ("factor_forgotten", B, DX, "dp - dot"),
    ("factor_of_the_sum_alone", B, DX, "dp - p * dot"),
    ("sign_turned", B, "dp - dot", "dot - dp"),
    ("averaged_over_the_leading_axis", B, DX, "p * (dp - dot) / len(dp)"),
    ("others_added", B, DX, "p * (1 - p) * dp + p * (dot - p * dp)"),
    ("p_squared_outside", B, "(dp * p).sum", "dp.sum", DX, "p * dp - p**2 * dot"),
    ("axis_one", B, "axis=-1", "axis=1"),
]
