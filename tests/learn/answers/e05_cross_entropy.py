"""Exercise 5: softmax with cross-entropy."""

RIGHT = {
    "SoftmaxCrossEntropy.backward": """
n = len(targets)
share = dloss / n
p = np.exp(scores - largest) / total
dscores = p.copy()
dscores[np.arange(n), targets] -= 1
dscores *= share
dlogits = np.zeros((len(is_target), scores.shape[1]))
dlogits[is_target] = dscores
return dlogits
""",
}
B, SHARE, P = "SoftmaxCrossEntropy.backward", "dloss / n", "np.exp(scores - largest) / total"
LABEL, PLACED, NOTHING = "dscores[np.arange(n), targets] -= 1", "dlogits[is_target] = dscores", "np.zeros_like(p)"
WRONG = [
    ("divided_by_all_rows", B, SHARE, "dloss / len(is_target)"),
    ("sum_over_the_targets", B, SHARE, "dloss"),
    ("divided_by_the_classes_too", B, SHARE, "dloss / scores.size"),
    ("divided_by_all_numbers", B, SHARE, "dloss / (len(is_target) * scores.shape[1])"),
    ("share_of_the_targets", B, SHARE, "dloss * is_target.mean()"),
    ("dloss_is_ignored", B, SHARE, "1 / n"),
    ("neither_dloss_nor_mean", B, SHARE, "1.0"),
    ("neither_dloss_nor_the_targets", B, SHARE, "1 / len(is_target)"),
    ("divided_by_one_too_few", B, SHARE, "dloss / (n - 1)"),
    ("multiplied_by_the_targets", B, SHARE, "dloss * n"),
    ("divided_by_dloss", B, SHARE, "1 / (dloss * n)"),
    ("sign_turned", B, SHARE, "-dloss / n"),
    ("label_forgotten", B, f"{LABEL}\n", ""),
    ("set_to_minus_one", B, "targets] -= 1", "targets] = -1"),
    ("label_alone", B, "p.copy()", NOTHING, "targets] -= 1", "targets] = p[np.arange(n), targets] - 1"),
    ("softmax_undone_twice", B, LABEL, f"{LABEL}\ndscores *= p * (1 - p)"),
    ("gradient_of_p", B, "p.copy()", NOTHING, "targets] -= 1", "targets] = -1 / p[np.arange(n), targets]"),
    ("not_normalised", B, " / total", ""),
    ("largest_not_subtracted", B, "scores - largest", "scores"),
    ("scores_for_p", B, P, "scores"),
    ("log_p_for_p", B, P, f"np.log({P})"),
    ("softmax_over_the_rows", B, P, "np.exp(scores) / np.exp(scores).sum(axis=0)"),
    ("labels_of_all_rows", B, "dscores[np.arange(n), targets]", "dscores[:, targets]"),
    ("in_the_first_rows", B, "dlogits[is_target]", "dlogits[:n]"),
    ("ignored_rows_left_out", B, "return dlogits", "return dscores"),
    ("labels_for_rows", B, "dscores[np.arange(n), targets]", "dscores[targets]"),
    ("in_the_rows_of_the_labels", B, "dlogits[is_target]", "dlogits[targets]"),
    ("added_in_the_rows_of_the_labels", B, PLACED, "np.add.at(dlogits, targets, dscores)"),
    (
        "one_subtracted_in_the_first_rows",
        B,
        f"{LABEL}\n",
        "",
        PLACED,
        f"{PLACED}\ndlogits[np.arange(n), targets] -= share",
    ),
]
