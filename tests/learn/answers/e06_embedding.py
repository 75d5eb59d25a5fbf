"""Exercise 6: Embedding."""

RIGHT = {
    "Embedding.backward": """
dW = np.zeros_like(self.weight.value)
np.add.at(dW, ids, dy)
self.weight.add_grad(dW)
""",
    "Embedding.backward:in place": """
np.add.at(self.weight.grad, ids, dy)
""",
}
B, IN_PLACE, ADD = "Embedding.backward", "Embedding.backward:in place", "np.add.at(dW, ids, dy)"
WRONG = [
    ("last_of_repeated_ids_wins", B, ADD, "dW[ids] += dy"),
    ("first_of_repeated_ids_wins", B, ADD, "dW[ids[::-1]] += dy[::-1]"),
    ("repeated_ids_averaged", B, ADD, "np.add.at(dW, ids, dy / np.bincount(ids)[ids][:, None])"),
    ("added_to_the_first_rows", B, ADD, "dW[: len(dy)] += dy"),
    ("table_set", B, "self.weight.add_grad(dW)", "self.weight.grad[...] = dW"),
    ("rows_set", IN_PLACE, "np.add.at(self.weight.grad, ids, dy)", "self.weight.grad[ids] = dy"),
    ("never_learned", B, "self.weight.add_grad(dW)\n", ""),
    ("order_lost", B, ADD, "np.add.at(dW, np.sort(ids), dy)"),
    ("table_inside", B, "np.zeros_like(self.weight.value)", "self.weight.value.copy()"),
    (
        "last_times_how_often",
        B,
        ADD,
        "dW[ids] = dy",
        "add_grad(dW)",
        "add_grad(dW * np.bincount(ids, minlength=len(dW))[:, None])",
    ),
]
