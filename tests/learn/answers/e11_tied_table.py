"""Exercise 11: one table at two places."""

RIGHT = {
    "TiedTable.backward": """
dh = self.scale * dlogits @ self.table.value
dE = self.scale * dlogits.T @ h
np.add.at(dE, ids, dh)
dbias = dlogits.sum(axis=0)
self.table.add_grad(dE)
self.bias.add_grad(dbias)
""",
    "TiedTable.backward:in place": """
self.table.add_grad(self.scale * dlogits.T @ h)
dh = self.scale * dlogits @ self.table.value
np.add.at(self.table.grad, ids, dh)
self.bias.add_grad(dlogits.sum(axis=0))
""",
}
B, IN_PLACE = RIGHT
DECODER, DH = "self.scale * dlogits.T @ h", "self.scale * dlogits @ self.table.value"
ROWS, BIAS = "np.add.at(dE, ids, dh)", "dlogits.sum"
WRONG = [
    ("decoder_forgets_the_table", B, DECODER, "np.zeros_like(self.table.value)"),
    ("embedding_forgets_the_table", B, f"{ROWS}\n", ""),
    ("embedding_overwrites", B, ROWS, "dE[ids] = dh"),
    ("embedding_overwrites_the_gradient", IN_PLACE, "np.add.at(self.table.grad, ids, dh)", "self.table.grad[ids] = dh"),
    (
        "decoder_overwrites_the_gradient",
        IN_PLACE,
        f"self.table.add_grad({DECODER})\n",
        "",
        "self.bias.add",
        f"self.table.grad[...] = {DECODER}\nself.bias.add",
    ),
    ("bias_set", B, "self.bias.add_grad(dbias)", "self.bias.grad[...] = dbias"),
    ("decoder_lost_in_the_rows_read", B, ROWS, f"dE[ids] = 0\n{ROWS}"),
    (
        "scale_upside_down",
        B,
        DECODER,
        "1 / self.scale * dlogits.T @ h",
        DH,
        "1 / self.scale * dlogits @ self.table.value",
    ),
    ("shares_averaged", B, "self.table.add_grad(dE)", "self.table.add_grad(dE / 2)"),
    ("scale_forgotten", B, DECODER, "dlogits.T @ h", DH, "dlogits @ self.table.value"),
    ("table_set", B, "self.table.add_grad(dE)", "self.table.grad[...] = dE"),
    ("bias_scaled", B, BIAS, "self.scale * dlogits.sum"),
    ("table_averaged", B, "self.table.add_grad(dE)", "self.table.add_grad(dE / len(ids))"),
    ("scale_forgotten_in_the_embedding", B, DH, "dlogits @ self.table.value"),
    ("rows_for_the_table", B, "dlogits @ self.table.value", "dlogits[:, ids] @ h"),
    ("own_row_alone", B, "dlogits @ self.table.value", "dlogits[np.arange(len(ids)), ids][:, None] * h"),
    ("embedding_averaged", B, DH, f"{DH} / len(ids)"),
    ("dh_times_h", B, DH, f"{DH} * h"),
    ("h_for_dh", B, DH, "h"),
    ("last_of_repeated_ids_wins", B, ROWS, "dE[ids] += dh"),
    ("first_of_repeated_ids_wins", B, ROWS, "dE[ids[::-1]] += dh[::-1]"),
    ("mean_of_repeated_ids", B, ROWS, "np.add.at(dE, ids, dh / np.bincount(ids)[ids][:, None])"),
    ("rows_by_place", B, ROWS, "dE[: len(ids)] += dh"),
    ("every_row", B, ROWS, "dE += dh.sum(axis=0)"),
    ("next_rows", B, ROWS, "np.add.at(dE, (ids + 1) % len(dE), dh)"),
    ("scale_forgotten_in_the_decoder", B, DECODER, "dlogits.T @ h"),
    ("decoder_averaged", B, DECODER, f"{DECODER} / len(ids)"),
    ("decoder_with_dh", B, DECODER, "self.scale * dlogits.T @ dh"),
    ("scale_squared_in_the_decoder", B, DECODER, "self.scale**2 * dlogits.T @ h"),
    ("bias_averaged", B, BIAS, "dlogits.mean"),
    ("bias_of_everything", B, "dlogits.sum(axis=0)", "np.full(dlogits.shape[1], dlogits.sum())"),
]
