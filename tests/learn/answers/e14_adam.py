"""Exercise 14: Adam and AdamW."""

RIGHT = {
    "Adam.step": """
self.steps += 1
beta1, beta2 = self.betas
for parameter, m, v in zip(self.parameters, self.first_moments, self.second_moments):
    g = parameter.grad * scale
    m[...] = beta1 * m + (1 - beta1) * g
    v[...] = beta2 * v + (1 - beta2) * g**2
    m_hat = m / (1 - beta1**self.steps)
    v_hat = v / (1 - beta2**self.steps)
    parameter.value *= self.kept(parameter)
    step = m_hat / (np.sqrt(v_hat) + self.eps)
    parameter.value -= self.lr * step
""",
    "AdamW.kept": """
if parameter.value.ndim > 1:
    return 1 - self.lr * self.weight_decay
return 1.0
""",
}
S, K = RIGHT
COUNTED, BETAS, G = "self.steps += 1\n", "beta1, beta2 = self.betas", "parameter.grad * scale"
M, V = "beta1 * m + (1 - beta1) * g\n", "beta2 * v + (1 - beta2) * g**2"
REMEMBERED = f"    m[...] = {M}    v[...] = {V}\n"
M_HAT, V_HAT = "m / (1 - beta1**self.steps)", "v / (1 - beta2**self.steps)"
KEPT, STEP, LR = "parameter.value *= self.kept(parameter)", "parameter.value -= self.lr", "self.lr * step"
ROOT, MOVED = "(np.sqrt(v_hat) + self.eps)", "m_hat / (np.sqrt(v_hat) + self.eps)"
DECAY = "self.lr * self.weight_decay"
WRONG = [
    ("no_bias_correction", S, M_HAT, "m", V_HAT, "v"),
    ("counted_from_zero", S, COUNTED, "", f"{LR}\n", f"{LR}\nself.steps += 1\n"),
    ("not_counted", S, M_HAT, "m / (1 - beta1)", V_HAT, "v / (1 - beta2)"),
    ("counted_for_each_parameter", S, COUNTED, "", "    g =", "    self.steps += 1\n    g ="),
    ("beta1_for_both", S, V, "beta1 * v + (1 - beta1) * g**2"),
    ("not_squared", S, "g**2", "g"),
    ("new_gradient_not_weighted", S, "(1 - beta1) * g\n", "g\n"),
    ("moments_forgotten", S, "beta1 * m + ", "", "beta2 * v + ", ""),
    ("eps_inside_the_root", S, ROOT, "np.sqrt(v_hat + self.eps)"),
    ("root_forgotten", S, ROOT, "(v_hat + self.eps)"),
    ("eps_forgotten", S, ROOT, "np.sqrt(v_hat)"),
    ("uphill", S, "parameter.value -=", "parameter.value +="),
    ("betas_swapped", S, BETAS, "beta2, beta1 = self.betas"),
    ("scale_ignored", S, G, "parameter.grad"),
    ("divided_by_scale", S, G, "parameter.grad / scale"),
    ("one_beta_1", S, BETAS, "beta1 = beta2 = self.betas[0]"),
    ("one_beta_2", S, BETAS, "beta1 = beta2 = self.betas[1]"),
    ("lr_forgotten", S, LR, "step"),
    ("value_lost", S, KEPT, "parameter.value -= self.kept(parameter) * parameter.value"),
    ("value_set", S, STEP, "parameter.value[...] = self.lr"),
    ("g_for_m_hat", S, "step = m_hat", "step = g"),
    ("step_scaled", S, G, "parameter.grad", LR, "self.lr * scale * step"),
    ("scale_in_m_alone", S, "g**2", "parameter.grad**2"),
    ("scale_in_v_alone", S, "(1 - beta1) * g\n", "(1 - beta1) * parameter.grad\n"),
    ("scale_once_in_v", S, "g**2", "g * parameter.grad"),
    ("moved_too_early", S, REMEMBERED, "", f"{LR}\n", f"{LR}\n{REMEMBERED}"),
    (
        "hats_kept",
        S,
        f"m_hat = {M_HAT}",
        "m_hat = m\n    m_hat /= 1 - beta1**self.steps",
        f"v_hat = {V_HAT}",
        "v_hat = v\n    v_hat /= 1 - beta2**self.steps",
    ),
    ("OnlyTheFirst", S, "zip(self.parameters", "zip(self.parameters[:1]"),
    ("only_m_corrected", S, V_HAT, "v"),
    ("only_v_corrected", S, M_HAT, "m"),
    ("corrections_swapped", S, "beta1**self", "beta2**self", "beta2**self", "beta1**self"),
    ("v_corrected_with_beta1", S, "beta2**self", "beta1**self"),
    ("m_corrected_with_beta2", S, "beta1**self", "beta2**self"),
    ("power_of_the_difference", S, M_HAT, "m / (1 - beta1) ** self.steps", V_HAT, "v / (1 - beta2) ** self.steps"),
    ("beta_times_t", S, "beta1**self", "beta1 * self", "beta2**self", "beta2 * self"),
    ("multiplied_by_the_correction", S, "m / (", "m * (", "v / (", "v * ("),
    (
        "counted_ahead",
        S,
        "beta1**self.steps",
        "beta1 ** (self.steps + 1)",
        "beta2**self.steps",
        "beta2 ** (self.steps + 1)",
    ),
    ("root_before_the_correction", S, V_HAT, "v", "np.sqrt(v_hat)", "np.sqrt(v_hat) / (1 - beta2**self.steps)"),
    ("betas_swapped_in_the_means", S, M, "beta2 * m + (1 - beta2) * g\n", V, "beta1 * v + (1 - beta1) * g**2"),
    ("beta2_for_m", S, M, "beta2 * m + (1 - beta2) * g\n"),
    ("shares_swapped", S, M, "(1 - beta1) * m + beta1 * g\n", V, "(1 - beta2) * v + beta2 * g**2"),
    ("new_square_not_weighted", S, "(1 - beta2) * g**2", "g**2"),
    ("nothing_new_weighted", S, "(1 - beta1) * g\n", "g\n", "(1 - beta2) * g**2", "g**2"),
    ("what_was_there_not_weighted", S, "beta1 * m +", "m +", "beta2 * v +", "v +"),
    ("square_of_the_mean", S, "g**2", "m**2"),
    ("share_squared", S, "(1 - beta2) * g**2", "((1 - beta2) * g) ** 2"),
    ("v_forgotten", S, "beta2 * v + ", ""),
    ("m_forgotten", S, "beta1 * m + ", ""),
    ("eps_subtracted", S, "+ self.eps", "- self.eps"),
    ("eps_outside_the_fraction", S, ROOT, "np.sqrt(v_hat) + self.eps"),
    ("larger_of_root_and_eps", S, ROOT, "np.maximum(np.sqrt(v_hat), self.eps)"),
    ("not_divided", S, MOVED, "m_hat"),
    ("vectors_decayed", K, "ndim > 1", "ndim > 0"),
    ("decay_without_lr", K, DECAY, "self.weight_decay"),
    ("decay_returned", K, f"1 - {DECAY}", DECAY),
    ("growth", K, "1 - self", "1 + self"),
    ("matrices_spared", K, "ndim > 1", "ndim == 1"),
    ("no_decay", K, f"1 - {DECAY}", "1.0"),
    ("ValueReturned", K, f"1 - {DECAY}", f"parameter.value * (1 - {DECAY})", "return 1.0", "return parameter.value"),
    ("DecayedAfterTheStep", S, f"    {KEPT}\n", "", f"{LR}\n", f"{LR}\n    {KEPT}\n"),
    ("decay_over_lr", K, DECAY, "self.weight_decay / self.lr"),
    ("one_forgotten", K, "1 - self", "-self"),
    ("decay_by_lr", K, DECAY, "self.lr"),
]
