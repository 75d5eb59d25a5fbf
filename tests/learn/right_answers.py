"""For each exercise right answers in several styles: whole arrays, loops over every number, einsum, and in place."""

from tests.learn.right_answers_last import RIGHT as LAST
from tests.learn.right_answers_later import RIGHT as LATER

RIGHT = {
    1: [
        {
            "central_difference": """
            gradient = np.zeros(x.shape)
            for index in np.ndindex(x.shape):
                up, down = x.copy(), x.copy()
                up[index] += h
                down[index] -= h
                gradient[index] = (f(up) - f(down)) / (2 * h)
            return gradient
            """,
            "complex_step": """
            gradient = np.zeros(x.shape)
            for index in np.ndindex(x.shape):
                moved = x.astype(complex)
                moved[index] += 1j * h
                gradient[index] = f(moved).imag / h
            return gradient
            """,
        },
        {
            "central_difference": """
            gradient = []
            for i in range(x.size):
                number = x.flat[i]
                x.flat[i] = number + h
                up = f(x)
                x.flat[i] = number - h
                down = f(x)
                x.flat[i] = number
                gradient.append((up - down) / h / 2)
            return np.array(gradient).reshape(x.shape)
            """,
            "complex_step": """
            steps = 1j * h * np.eye(x.size).reshape(x.size, *x.shape)
            return np.array([np.imag(f(x + step)) / h for step in steps]).reshape(x.shape)
            """,
        },
        {
            "central_difference": """
            def slope(step):
                return (8 * (f(x + step) - f(x - step)) - (f(x + 2 * step) - f(x - 2 * step))) / (12 * h)

            return np.array([slope(s) for s in h * np.eye(x.size).reshape(-1, *x.shape)]).reshape(x.shape)
            """,
            "complex_step": """
            gradient, moved = np.zeros_like(x), x + 0j
            for place in np.ndindex(*x.shape):
                moved[place] = complex(x[place], h)
                gradient[place] = f(moved).imag / h
                moved[place] = x[place]
            return gradient
            """,
        },
    ],
    2: [
        {
            "backward": """
            self.weight.add_grad(x.T @ dy)
            self.bias.add_grad(dy.sum(axis=0))
            return dy @ self.weight.value.T
            """
        },
        {
            "backward": """
            W = self.weight.value
            dW, db, dx = W * 0, self.bias.value * 0, x * 0
            for n in range(len(x)):
                for o in range(W.shape[1]):
                    db[o] += dy[n, o]
                    for i in range(W.shape[0]):
                        dW[i, o] += x[n, i] * dy[n, o]
                        dx[n, i] += W[i, o] * dy[n, o]
            self.weight.add_grad(dW)
            self.bias.add_grad(db)
            return dx
            """
        },
        {
            "backward": """
            import numpy as np
            self.weight.grad[...] += np.einsum("ni,no->io", x, dy)
            self.bias.add_grad(np.einsum("no->o", dy))
            return np.einsum("no,io->ni", dy, self.weight.value)
            """
        },
    ],
    3: [
        {
            "value_and_slope": """
            return self.value(x), _cdf(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
            """
        },
        {
            "value_and_slope": """
            y, slope = np.empty_like(x), np.empty_like(x)
            for place in np.ndindex(x.shape):
                number = x[place]
                cdf = _cdf(x)[place]
                y[place] = number * cdf
                slope[place] = cdf + number * np.exp(-0.5 * number**2) * (2 * np.pi) ** -0.5
            return y, slope
            """
        },
        {
            "value_and_slope": """
            slope = -0.5 * x**2
            np.exp(slope, out=slope)
            slope /= np.sqrt(2 * np.pi)
            slope *= x
            slope += _cdf(x)
            return x * _cdf(x), slope
            """
        },
    ],
    4: [
        {"backward": "return p * (dp - (dp * p).sum(axis=-1, keepdims=True))"},
        {
            "backward": """
            dx = np.zeros(p.shape)
            for n in np.ndindex(p.shape[:-1]):
                for j in range(p.shape[-1]):
                    for k in range(p.shape[-1]):
                        dx[n][j] += dp[n][k] * p[n][k] * ((k == j) - p[n][j])
            return dx
            """
        },
        {
            "backward": """
            jacobian = np.einsum("...k,kj->...kj", p, np.eye(p.shape[-1])) - np.einsum("...k,...j->...kj", p, p)
            return np.einsum("...k,...kj->...j", dp, jacobian)
            """
        },
        {
            "backward": """
            dx = dp * p
            dx -= p * np.add.reduce(dx, axis=-1)[..., None]
            return dx
            """
        },
    ],
    5: [
        {
            "backward": """
            dscores = np.exp(scores - largest) / total
            dscores[np.arange(len(targets)), targets] -= 1
            dlogits = np.zeros((len(is_target), scores.shape[1]))
            dlogits[is_target] = dscores * dloss / len(targets)
            return dlogits
            """
        },
        {
            "backward": """
            dlogits, i = np.zeros((len(is_target), scores.shape[1])), 0
            for n in range(len(is_target)):
                if is_target[n]:
                    for c in range(scores.shape[1]):
                        p = np.exp(scores[i, c]) / sum(np.exp(scores[i]))
                        dlogits[n, c] = dloss * (p - (c == targets[i])) / len(targets)
                    i += 1
            return dlogits
            """
        },
        {
            "backward": """
            onehot = np.eye(scores.shape[1])[targets]
            dp = -onehot / (np.exp(scores - largest) / total)
            p = np.exp(scores - largest) / total
            dscores = p * (dp - (dp * p).sum(axis=1, keepdims=True)) * (dloss / is_target.sum())
            place = np.flatnonzero(is_target)
            return np.eye(len(is_target))[:, place] @ dscores
            """
        },
    ],
    6: [
        {
            "backward": """
            dW = np.zeros_like(self.weight.value)
            np.add.at(dW, ids, dy)
            self.weight.add_grad(dW)
            """
        },
        {
            "backward": """
            for n, v in enumerate(ids):
                self.weight.grad[v] += dy[n]
            """
        },
        {
            "backward": """
            onehot = np.eye(len(self.weight.value))[ids]
            self.weight.add_grad(onehot.T @ dy)
            return None
            """
        },
        {
            "backward": """
            W = self.weight.value
            dW = np.stack([np.bincount(ids, dy[:, d], len(W)) for d in range(W.shape[1])], axis=1)
            self.weight.add_grad(dW)
            """
        },
    ],
    **LATER,
    **LAST,
}
