"""Exercise 10: attention, by itself and with heads and padding. Most mistakes are the same in both."""

RIGHT = {
    "DotProductAttention.attend_backward": """
a = self.dropout.apply(p, mask)
dv = _transposed(a) @ dc
da = dc @ _transposed(v)
dp = self.dropout.apply(da, mask)
dot = (dp * p).sum(axis=-1, keepdims=True)
ds = p * (dp - dot)
scale = 1 / math.sqrt(q.shape[-1])
dq = scale * ds @ k
dk = scale * _transposed(ds) @ q
return dq, dk, dv
""",
    "PaddedAttention.backward": """
dc = self.split(dc)
dv = _transposed(p) @ dc
dp = dc @ _transposed(v)
dot = (dp * p).sum(axis=-1, keepdims=True)
ds = p * (dp - dot)
scale = 1 / math.sqrt(q.shape[-1])
dq = scale * ds @ k
dk = scale * _transposed(ds) @ q
return self.merge(dq), self.merge(dk), self.merge(dv)
""",
}
ONE, HEADS = RIGHT
SCALE = "1 / math.sqrt(q.shape[-1])"
SCALES = {
    "forgotten": "1",
    "upside_down": "math.sqrt(q.shape[-1])",
    "d": "1 / q.shape[-1]",
    "all_features": "1 / math.sqrt(q.shape[-1] * self.num_heads)",
    "keys": "1 / math.sqrt(k.shape[-2])",
    "queries": "1 / math.sqrt(q.shape[-2])",
    "first_axis": "1 / math.sqrt(len(q))",
    "number_of_heads": "1 / math.sqrt(self.num_heads)",
}
DQ, DK = "dq = scale * ds @ k", "dk = scale * _transposed(ds) @ q"
BOTH = [
    *((f"scale_{name}_in_dq_dk", SCALE, scale) for name, scale in SCALES.items()),
    *((f"scale_{name}_in_dq", DQ, f"dq = {scale} * ds @ k") for name, scale in SCALES.items()),
    *((f"scale_{name}_in_dk", DK, f"dk = {scale} * _transposed(ds) @ q") for name, scale in SCALES.items()),
    ("key_gradient_reshaped", DK, "dk = scale * (_transposed(q) @ ds).reshape(k.shape)"),
    ("key_gradient_of_query_gradient", DK, "dk = scale * _transposed(ds) @ dq"),
    ("values_scaled", "@ dc", f"@ dc * {SCALE}"),
]
DOT, DS = "(dp * p).sum(axis=-1, keepdims=True)", "p * (dp - dot)"
SOFTMAX = [
    ("keys_for_values", "_transposed(v)", "_transposed(k)"),
    ("softmax_left_out", DS, "dp"),
    ("softmax_cut_short", DS, "p * dp"),
    ("softmax_diagonal", DS, "p * (1 - p) * dp"),
    ("softmax_over_the_queries", "(axis=-1", "(axis=-2"),
    ("softmax_over_everything", DOT, "(dp * p).sum()"),
    ("softmax_over_the_heads", "(axis=-1", "(axis=1"),
    ("softmax_over_the_sequences", "(axis=-1", "(axis=0"),
    ("softmax_sum_added", "dp - dot", "dp + dot"),
    ("softmax_sum_first", "dp - dot", "dot - dp"),
    ("softmax_sum_without_p", "(dp * p).sum", "dp.sum"),
    ("softmax_mean_without_p", "(dp * p).sum", "dp.mean"),
    ("softmax_p_before_the_sum_missing", DS, "p * dp - dot"),
    ("p_once_too_often", "dot = (dp", "dp = dp * p\ndot = (dp"),
    ("softmax_arguments_swapped", DS, "dp * (p - dot)"),
    ("softmax_twice", DS, f"softmax_backward({DS}, p)"),
]
DROPPED, UNDROPPED = "self.dropout.apply(da, mask)", ("self.dropout.apply(da, mask)", "da")
A_FOR_P = ("(dp * p)", "(dp * a)", "ds = p", "ds = a")
SPLIT, MERGED = "dc = self.split(dc)", "self.merge(dq), self.merge(dk), self.merge(dv)"
RESHAPED = {each: f"{each}.reshape(len(q), q.shape[2], -1)" for each in ("dq", "dk", "dv")}
TURNED = {each: f"{each}.transpose(0, 2, 3, 1).reshape(len(q), q.shape[2], -1)" for each in ("dq", "dk", "dv")}
WRONG = [
    *((name, ONE, *edits) for name, *edits in [*BOTH, *SOFTMAX]),
    *((f"{name}_and_no_dropout", ONE, *edits, *UNDROPPED) for name, *edits in SOFTMAX),
    ("dropout_forgotten_in_ds", ONE, *UNDROPPED),
    ("dropout_after_softmax", ONE, *UNDROPPED, DS, f"self.dropout.apply({DS}, mask)"),
    ("dropout_before_and_after_softmax", ONE, DS, f"self.dropout.apply({DS}, mask)"),
    ("dropout_undone_twice", ONE, DROPPED, f"self.dropout.apply({DROPPED}, mask)"),
    ("softmax_of_the_dropped", ONE, *A_FOR_P),
    ("mask_inverted", ONE, DROPPED, "self.dropout.apply(da, None if mask is None else ~mask)"),
    ("dropped_in_the_sum", ONE, "(dp * p)", "(dp * a)"),
    ("softmax_of_the_dropped_alone", ONE, *UNDROPPED, *A_FOR_P),
    ("dropout_forgotten_in_dv", ONE, "_transposed(a)", "_transposed(p)"),
    ("dropout_forgotten", ONE, "self.dropout.apply(p, mask)", "p", *UNDROPPED),
    ("keys_and_values_swapped", ONE, "return dq, dk, dv", "return dq, dv, dk"),
    *((name, HEADS, *edits) for name, *edits in [*BOTH, *SOFTMAX] if "scale_queries" not in name),
    ("heads_reshaped", HEADS, MERGED, ", ".join(RESHAPED.values())),
    *((f"heads_reshaped_{each}", HEADS, f"self.merge({each})", RESHAPED[each]) for each in RESHAPED),
    *((f"features_before_heads_{each}", HEADS, f"self.merge({each})", TURNED[each]) for each in TURNED),
    *((f"heads_reversed_{each}", HEADS, f"self.merge({each})", f"self.merge({each}[:, ::-1])") for each in TURNED),
    ("dc_dealt_out", HEADS, SPLIT, "dc = dc.reshape(*dc.shape[:2], -1, self.num_heads).transpose(0, 3, 1, 2)"),
    ("dc_reshaped", HEADS, SPLIT, "dc = dc.reshape(q.shape)"),
    ("heads_averaged", HEADS, SPLIT, "dc = self.split(dc) / self.num_heads"),
    ("weights_not_transposed", HEADS, "_transposed(p)", "p"),
    ("scores_not_transposed", HEADS, "_transposed(ds) @ q", "ds @ q"),
    ("scores_transposed", HEADS, "scale * ds @ k", "scale * _transposed(ds) @ k"),
    ("keys_and_queries_swapped", HEADS, DQ, "dq = scale * ds @ q", DK, "dk = scale * _transposed(ds) @ k"),
    ("queries_and_keys_exchanged", HEADS, MERGED, "self.merge(dk), self.merge(dq), self.merge(dv)"),
    ("keys_and_values_exchanged", HEADS, MERGED, "self.merge(dq), self.merge(dv), self.merge(dk)"),
    ("queries_and_values_exchanged", HEADS, MERGED, "self.merge(dv), self.merge(dk), self.merge(dq)"),
    ("values_first", HEADS, MERGED, "self.merge(dv), self.merge(dq), self.merge(dk)"),
    ("padded_queries_stopped", HEADS, SPLIT, "dc = self.split(dc * (p.sum(axis=(1, 2)) > 0)[:, :, None])"),
    ("padded_queries_zeroed", HEADS, "self.merge(dq)", "self.merge(dq) * (p.sum(axis=(1, 2)) > 0)[:, :, None]"),
    ("padding_learns", HEADS, DS, "dp - dot"),
    ("padded_sequences_stopped", HEADS, SPLIT, "dc = self.split(dc) * (p != 0).all(axis=-1, keepdims=True)"),
    ("weights_unscaled", HEADS, SPLIT, f"{SPLIT}\np = softmax(np.where(p > 0, q @ _transposed(k), -np.inf))"),
    ("mask_forgotten", HEADS, SPLIT, f"{SPLIT}\np = softmax(q @ _transposed(k) / math.sqrt(q.shape[-1]))"),
]
