"""Exercise 7: LayerNorm."""

RIGHT = {
    "LayerNorm.backward": """
dx_hat = dy * self.gamma.value
dgamma = (dy * x_hat).sum(axis=0)
dbeta = dy.sum(axis=0)
shift = dx_hat.mean(axis=-1, keepdims=True)
stretch = (dx_hat * x_hat).mean(axis=-1, keepdims=True)
dx = (dx_hat - shift - x_hat * stretch) / sigma
self.gamma.add_grad(dgamma)
self.beta.add_grad(dbeta)
return dx
""",
    "LayerNorm.backward:variance": """
D = dy.shape[1]
self.gamma.add_grad((dy * x_hat).sum(axis=0))
self.beta.add_grad(dy.sum(axis=0))
dx_hat = dy * self.gamma.value
centred = x_hat * sigma
dvariance = (dx_hat * centred).sum(axis=1, keepdims=True) * -0.5 * sigma**-3
dmean = -(dx_hat / sigma).sum(axis=1, keepdims=True)
dx = dx_hat / sigma + dvariance * 2 * centred / D + dmean / D
return dx
""",
}
B, VARIANCE, DX_HAT = "LayerNorm.backward", "LayerNorm.backward:variance", "dx_hat = dy * self.gamma.value"
DX, SUM = "(dx_hat - shift - x_hat * stretch) / sigma", "dx_hat - shift - x_hat * stretch"
SHIFT, STRETCH = "dx_hat.mean(axis=-1, keepdims=True)", "(dx_hat * x_hat).mean(axis=-1, keepdims=True)"
DGAMMA, DBETA = "(dy * x_hat).sum(axis=0)", "dbeta = dy.sum(axis=0)"
GAMMA, BETA = "self.gamma.add_grad(dgamma)", "self.beta.add_grad(dbeta)"
WRONG = [
    ("gamma_out_of_the_sums", B, DX_HAT, "dx_hat = dy", DX, f"self.gamma.value * {DX}"),
    ("gamma_forgotten", B, DX_HAT, "dx_hat = dy"),
    ("mean_forgotten", B, " - shift", ""),
    ("deviation_forgotten", B, " - x_hat * stretch", ""),
    ("direct_road_alone", B, DX, "dx_hat / sigma"),
    ("sigma_forgotten", B, DX, SUM),
    ("sigma_squared", B, "/ sigma", "/ sigma**2"),
    ("root_of_sigma", B, "/ sigma", "/ np.sqrt(sigma)"),
    ("times_sigma", B, "/ sigma", "* sigma"),
    ("sums_for_means", B, "dx_hat.mean", "dx_hat.sum", "(dx_hat * x_hat).mean", "(dx_hat * x_hat).sum"),
    ("means_over_the_batch", B, SHIFT, "dx_hat.mean(axis=0)", STRETCH, "(dx_hat * x_hat).mean(axis=0)"),
    ("sign_of_the_deviation", B, "- x_hat * stretch", "+ x_hat * stretch"),
    ("deviation_without_x_hat", B, "x_hat * stretch", "stretch"),
    ("eps_out_of_the_derivative", B, "/ sigma", "/ np.sqrt(sigma**2 - self.eps)"),
    ("last_term_alone_divided", B, DX, "dx_hat - shift - x_hat * stretch / sigma"),
    ("first_term_alone_divided", B, DX, "dx_hat / sigma - shift - x_hat * stretch"),
    ("deviation_divided_twice", B, "x_hat * stretch", "x_hat * stretch / sigma"),
    ("root_underived", VARIANCE, "* -0.5 * sigma", "* -1.0 * sigma"),
    ("square_underived", VARIANCE, "dvariance * 2 * centred", "dvariance * centred"),
    ("sigma_for_the_variance", VARIANCE, "sigma**-3", "sigma**-1.5"),
    ("means_over_everything", B, SHIFT, "dx_hat.mean()", STRETCH, "(dx_hat * x_hat).mean()"),
    ("divided_by_the_rows", VARIANCE, "D = dy.shape[1]", "D = dy.shape[0]"),
    ("gamma_like_beta", B, DGAMMA, "dy.sum(axis=0)"),
    ("gamma_of_dx_hat", B, DGAMMA, "(dx_hat * x_hat).sum(axis=0)"),
    ("parameters_averaged", B, DGAMMA, "(dy * x_hat).mean(axis=0)", DBETA, "dbeta = dy.mean(axis=0)"),
    ("parameters_not_summed", B, DGAMMA, "dy * x_hat", DBETA, "dbeta = dy"),
    ("nothing_added", B, f"{GAMMA}\n{BETA}\n", ""),
    ("gamma_not_added", B, f"{GAMMA}\n", ""),
    ("beta_not_added", B, f"{BETA}\n", ""),
    ("gamma_set", B, GAMMA, "self.gamma.grad[...] = dgamma"),
    ("beta_set", B, BETA, "self.beta.grad[...] = dbeta"),
    ("gamma_beta_set", B, GAMMA, "self.gamma.grad[...] = dgamma", BETA, "self.beta.grad[...] = dbeta"),
    ("parameters_swapped", B, GAMMA, "self.gamma.add_grad(dbeta)", BETA, "self.beta.add_grad(dgamma)"),
    ("beta_of_dx_hat", B, DBETA, "dbeta = dx_hat.sum(axis=0)"),
    ("parameters_of_dx_hat", B, DGAMMA, "(dx_hat * x_hat).sum(axis=0)", DBETA, "dbeta = dx_hat.sum(axis=0)"),
]
