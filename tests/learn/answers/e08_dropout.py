"""Exercise 8: dropout."""

RIGHT = {
    "Dropout.backward": """
if mask is None:
    return dy
factor = 1 / (1 - self.p)
dx = dy * mask * factor
return dx
""",
}
B, FACTOR, DX = "Dropout.backward", "1 / (1 - self.p)", "dy * mask * factor"
WRONG = [
    ("drawn_again", B, DX, "dy * self.draw(shape, tape.rng) * factor"),
    ("not_scaled", B, DX, "dy * mask"),
    ("backward_scaled_by_one_over_p", B, FACTOR, "1 / self.p"),
    ("scaled_the_other_way", B, FACTOR, "1 - self.p"),
    ("scaled_twice", B, DX, "dy * mask * factor**2"),
    ("handed_on", B, "return dx", "return dy"),
    ("mask_forgotten", B, DX, "dy * factor"),
    ("mask_inverted", B, DX, "dy * ~mask * factor"),
    ("scaled_in_evaluation", B, "return dy", "return dy / (1 - self.p)"),
    ("kept_alone", B, DX, "dy[mask] * factor"),
    ("kept_alone_unscaled", B, DX, "dy[mask]"),
    ("dropped_handed_on", B, DX, "np.where(mask, dy * factor, dy)"),
    ("divided_by_the_share", B, FACTOR, "1 / mask.mean()"),
    ("divided_by_the_share_of_each_row", B, FACTOR, "1 / np.maximum(mask.mean(axis=-1, keepdims=True), 1 / shape[-1])"),
    ("dropped_scaled", B, DX, "np.where(mask, dy, dy / factor)"),
]
