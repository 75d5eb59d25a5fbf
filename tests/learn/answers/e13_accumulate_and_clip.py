"""Exercise 13: a batch in parts, and gradients that are clipped."""

RIGHT = {
    "accumulate": """
counts = [(labels != IGNORED).sum() for _, labels in pieces]
mean = 0.0
for (x, labels), count in zip(pieces, counts):
    share = count / sum(counts)
    tape = Tape()
    its_mean = loss.forward(layer.forward(x, tape), labels, tape)
    mean += share * its_mean
    layer.backward(loss.backward(share, tape), tape)
return mean
""",
    "clip_by_global_norm": """
parameters = list(dict.fromkeys(parameters))
squares = 0.0
for p in parameters:
    squares += (p.grad**2).sum()
norm = math.sqrt(squares)
if norm > max_norm:
    factor = max_norm / norm
    for p in parameters:
        p.grad[...] *= factor
return norm
""",
    "clip_by_global_norm:one factor": """
parameters = list(dict.fromkeys(parameters))
norm = math.sqrt(sum((p.grad**2).sum() for p in parameters))
factor = min(1.0, max_norm / norm) if norm else 1.0
for p in parameters:
    p.grad[...] *= factor
return norm
""",
}
A, C, FACTORED = RIGHT
SHARE, TOLD, DLOSS = "count / sum(counts)", "share * its_mean", "loss.backward(share"
ADDED, NORM, FACTOR, SCALED = (
    "squares += (p.grad**2).sum()",
    "math.sqrt(squares)",
    "max_norm / norm",
    "p.grad[...] *= factor",
)
LONG, SUMMED, EACH = "if norm > max_norm", "for p in parameters:\n    squares", "for p in parameters:\n        p"
NORMS = (ADDED, "squares += np.linalg.norm(p.grad)", NORM)
WRONG = [
    ("mean_of_means", A, SHARE, "1 / len(pieces)"),
    ("sum_of_means", A, SHARE, "1"),
    ("counted_by_rows", A, "(labels != IGNORED).sum()", "len(labels)"),
    ("sum_over_targets", A, SHARE, "count"),
    ("returns_the_mean_of_means", A, TOLD, "its_mean / len(pieces)"),
    ("cleared_before_each", A, "    tape = Tape()", "    tape = Tape()\n    layer.zero_grad()"),
    ("cleared_at_the_beginning", A, "mean = 0.0", "mean = 0.0\nlayer.zero_grad()"),
    ("label_0_not_counted", A, "labels != IGNORED", "labels > 0"),
    ("ignored_counted", A, "labels != IGNORED", "labels == IGNORED"),
    ("gradient_of_the_sum", A, DLOSS, "loss.backward(1.0"),
    ("gradient_not_divided", A, DLOSS, "loss.backward(count"),
    ("returns_the_sum_of_means", A, TOLD, "its_mean"),
    (
        "shares_turned_around",
        A,
        "count in zip(pieces, counts)",
        "count, other in zip(pieces, counts, counts[::-1])",
        DLOSS,
        "loss.backward(other / sum(counts)",
    ),
    ("shares_upside_down", A, SHARE, "sum(counts) / count"),
    ("divided_by_pieces_too", A, SHARE, "count / sum(counts) / len(pieces)"),
    ("clipped_each_by_itself", C, SCALED, "p.grad[...] *= min(1, max_norm / np.linalg.norm(p.grad))"),
    ("each_number_clipped", C, SCALED, "np.clip(p.grad, -max_norm, max_norm, out=p.grad)"),
    ("always_scaled", C, LONG, "if norm > 0"),
    ("each_number_at_most", C, SCALED, "np.minimum(p.grad, max_norm, out=p.grad)"),
    ("norms_added", C, *NORMS, "squares"),
    ("root_forgotten", C, NORM, "squares"),
    ("given_twice_counts_twice", C, "list(dict.fromkeys(parameters))", "list(parameters)"),
    (
        "given_twice_is_scaled_twice",
        C,
        "list(dict.fromkeys(parameters))",
        "list(parameters)",
        SUMMED,
        "for p in set(parameters):\n    squares",
    ),
    ("returns_the_norm_after", C, "return norm", "return min(norm, max_norm)"),
    ("divided_by_the_norm", C, FACTOR, "1 / norm"),
    ("upside_down", C, FACTOR, "norm / max_norm"),
    ("upside_down_and_at_most_1", C, LONG, "if norm > 0", FACTOR, "min(1, norm / max_norm)"),
    ("factor_squared", C, FACTOR, "(max_norm / norm) ** 2"),
    ("divided_by_the_square", C, FACTOR, "max_norm / norm**2"),
    ("multiplied_by_max_norm", C, FACTOR, "max_norm"),
    ("the_short_scaled", C, LONG, "if norm <= max_norm"),
    ("nothing_scaled", C, SCALED, "p.grad * factor"),
    ("values_scaled", C, SCALED, "p.value[...] *= factor"),
    ("only_the_first_scaled", C, EACH, "for p in parameters[:1]:\n        p"),
    ("only_the_last_scaled", C, EACH, "for p in parameters[-1:]:\n        p"),
    ("returns_the_factor", C, "return norm", "return max_norm / norm"),
    ("returns_the_factor_at_most_1", C, "return norm", "return min(1, max_norm / norm)"),
    ("returns_the_square", C, "return norm", "return squares"),
    ("returns_max_norm", C, "return norm", "return max_norm"),
    ("norm_largest", C, ADDED, "squares = max(squares, abs(p.grad).max())", NORM, "squares"),
    ("norm_sizes_added", C, ADDED, "squares += abs(p.grad).sum()", NORM, "squares"),
    ("norm_numbers_added", FACTORED, "math.sqrt(sum((p.grad**2).sum()", "(sum(p.grad.sum()"),
    ("norm_mean_square", C, NORM, "math.sqrt(squares / sum(p.grad.size for p in parameters))"),
    ("norm_means_of_squares", C, ADDED, "squares += (p.grad**2).mean()"),
    ("norm_largest_norm", C, ADDED, "squares = max(squares, (p.grad**2).sum())"),
    ("norm_mean_norm", C, *NORMS, "squares / len(parameters)"),
    ("norm_of_values", C, ADDED, "squares += (p.value**2).sum()"),
    ("norm_singular", C, ADDED, "squares += np.linalg.norm(p.grad, 2) ** 2"),
    ("norm_first_alone", C, SUMMED, "for p in parameters[:1]:\n    squares"),
    ("norm_last_alone", C, SUMMED, "for p in parameters[-1:]:\n    squares"),
]
