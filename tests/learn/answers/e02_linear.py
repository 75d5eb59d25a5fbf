"""Exercise 2: Linear."""

RIGHT = {
    "Linear.backward": """
dW = x.T @ dy
db = dy.sum(axis=0)
dx = dy @ self.weight.value.T
self.weight.add_grad(dW)
self.bias.add_grad(db)
return dx
""",
}
B, DW, DB, DX = "Linear.backward", "x.T @ dy", "dy.sum(axis=0)", "dy @ self.weight.value.T"
WRONG = [
    ("weight_averaged", B, DW, "x.T @ dy / len(x)"),
    ("bias_averaged", B, DB, "dy.mean(axis=0)"),
    ("both_averaged", B, DW, "x.T @ dy / len(x)", DB, "dy.mean(axis=0)"),
    ("all_averaged", B, "dW = x.T", "dy = dy / len(dy)\ndW = x.T"),
    (
        "assigns",
        B,
        "self.weight.add_grad(dW)",
        "self.weight.grad[...] = dW",
        ".bias.add_grad(db)",
        ".bias.grad[...] = db",
    ),
    ("weight_set", B, "self.weight.add_grad(dW)", "self.weight.grad[...] = dW"),
    ("bias_set", B, "self.bias.add_grad(db)", "self.bias.grad[...] = db"),
    ("bias_not_summed", B, DB, "dy"),
    ("bias_summed_too_far", B, DB, "np.full(dy.shape[1], dy.sum())"),
    ("weight_transposed", B, DW, "dy.T @ x"),
    ("weight_reshaped", B, DW, "(dy.T @ x).reshape(self.weight.value.shape)"),
    ("input_with_reshaped_weight", B, "weight.value.T", "weight.value.reshape(dy.shape[1], -1)"),
    ("bias_forgotten", B, "self.bias.add_grad(db)\n", ""),
    ("weight_forgotten", B, "self.weight.add_grad(dW)\n", ""),
    ("input_with_gradient", B, DX, "dy @ dW.T"),
    ("last_row_alone", B, DW, "np.outer(x[-1], dy[-1])"),
    ("outer_product_of_sums", B, DW, "np.outer(x.sum(axis=0), dy.sum(axis=0))"),
    ("input_with_sums", B, DX, "np.outer(dy.sum(axis=1), self.weight.value.sum(axis=1))"),
    ("input_with_inverse", B, DX, "dy @ np.linalg.pinv(self.weight.value)"),
    ("input_without_bias", B, DX, "(dy - self.bias.value) @ self.weight.value.T"),
]
