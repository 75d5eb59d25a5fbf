"""As right_answers.py, for the exercises from 7 on."""

RIGHT = {
    7: [
        {
            "backward": """
            self.gamma.add_grad((dy * x_hat).sum(axis=0))
            self.beta.add_grad(dy.sum(axis=0))
            dx_hat = self.gamma.value * dy
            shift = dx_hat.mean(axis=-1, keepdims=True)
            stretch = (dx_hat * x_hat).mean(axis=-1, keepdims=True)
            return (dx_hat - shift - x_hat * stretch) / sigma
            """
        },
        {
            "backward": """
            N, D = dy.shape
            gamma = self.gamma.value
            dgamma, dbeta, dx = np.zeros(D), np.zeros(D), np.zeros((N, D))
            for n in range(N):
                for j in range(D):
                    dgamma[j] += dy[n, j] * x_hat[n, j]
                    dbeta[j] += dy[n, j]
                    for i in range(D):
                        moves = (i == j) - 1 / D - x_hat[n, i] * x_hat[n, j] / D
                        dx[n, i] += gamma[j] * dy[n, j] * moves / sigma[n, 0]
            self.gamma.add_grad(dgamma)
            self.beta.add_grad(dbeta)
            return dx
            """
        },
        {
            "backward": """
            self.gamma.grad[:] += np.einsum("nd,nd->d", dy, x_hat)
            self.beta.grad[:] += np.ones(len(dy)) @ dy
            dx = dy * self.gamma.value
            D = dx.shape[1]
            means = dx.sum(axis=1) / D, np.einsum("nd,nd->n", dx, x_hat) / D
            dx -= means[0][:, None]
            dx -= x_hat * means[1][:, None]
            dx *= 1 / sigma
            return dx
            """
        },
    ],
    8: [
        {"backward": "return self.apply(dy, mask)"},
        {
            "backward": """
            if mask is None:
                return dy.copy()
            dx = np.zeros(shape)
            for place in np.ndindex(shape):
                if mask[place]:
                    dx[place] = dy[place] / (1 - self.p)
            return dx
            """
        },
        {
            "backward": """
            dx = np.array(dy)
            if mask is not None:
                dx[~mask] = 0
                dx /= 1 - self.p
            return dx
            """
        },
    ],
    9: [
        {
            "backward": """
            ds = self.output_norm.backward(dy, tape)
            df = self.dropout.backward(ds, tape)
            dh = ds + self.feed_forward.backward(df, tape)
            ds = self.attention_norm.backward(dh, tape)
            df = self.dropout.backward(ds, tape)
            dqueries, dz = self.attention.backward(df, tape)
            return ds + dqueries, dz
            """
        },
        {
            "backward": """
            for norm, part in ((self.output_norm, self.feed_forward), (self.attention_norm, self.attention)):
                ds = norm.backward(dy, tape)
                through = part.backward(self.dropout.backward(ds, tape), tape)
                if part is self.feed_forward:
                    dy = through + ds
            return through[0] + ds, through[1]
            """
        },
        {
            "backward": """
            ds = self.output_norm.backward(dy, tape)
            dh = self.feed_forward.backward(self.dropout.backward(ds, tape), tape)
            dh += ds
            dx = self.attention_norm.backward(dh, tape)
            dq, dz = self.attention.backward(self.dropout.backward(dx, tape), tape)
            return [np.add(dx, dq), dz]
            """
        },
    ],
    10: [
        {
            "attend_backward": """
            a = self.dropout.apply(p, mask)
            dv = _transposed(a) @ dc
            dp = self.dropout.apply(dc @ _transposed(v), mask)
            ds = softmax_backward(dp, p) / math.sqrt(q.shape[-1])
            return ds @ k, _transposed(ds) @ q, dv
            """,
            "PaddedAttention.backward": """
            dc = self.split(dc)
            ds = softmax_backward(dc @ v.swapaxes(-1, -2), p) / math.sqrt(q.shape[-1])
            return self.merge(ds @ k), self.merge(ds.swapaxes(-1, -2) @ q), self.merge(p.swapaxes(-1, -2) @ dc)
            """,
        },
        {
            "attend_backward": """
            d = q.shape[-1]
            dq, dk, dv = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
            a = self.dropout.apply(p, mask)
            factor = a / p
            for place in np.ndindex(q.shape[:-1]):
                *outer, m = place
                dp = [dc[place] @ v[(*outer, t)] * factor[(*place, t)] for t in range(k.shape[-2])]
                mean = sum(dp[t] * p[(*place, t)] for t in range(k.shape[-2]))
                for t in range(k.shape[-2]):
                    ds = p[(*place, t)] * (dp[t] - mean) / d**0.5
                    dq[place] += ds * k[(*outer, t)]
                    dk[(*outer, t)] += ds * q[place]
                    dv[(*outer, t)] += a[(*place, t)] * dc[place]
            return dq, dk, dv
            """,
            "PaddedAttention.backward": """
            B, H, T, d = q.shape
            dq, dk, dv = np.zeros((B, T, H * d)), np.zeros((B, T, H * d)), np.zeros((B, T, H * d))
            for b in range(B):
                for h in range(H):
                    here = slice(h * d, (h + 1) * d)
                    dv[b, :, here] = p[b, h].T @ dc[b, :, here]
                    dp = dc[b, :, here] @ v[b, h].T
                    ds = p[b, h] * (dp - (dp * p[b, h]).sum(axis=1, keepdims=True)) / np.sqrt(d)
                    dq[b, :, here] = ds @ k[b, h]
                    dk[b, :, here] = ds.T @ q[b, h]
            return dq, dk, dv
            """,
        },
        {
            "attend_backward": """
            a = p if mask is None else p * mask / (1 - self.dropout.p)
            dp = np.einsum("...md,...td->...mt", dc, v)
            if mask is not None:
                dp *= mask / (1 - self.dropout.p)
            ds = p * dp
            ds -= p * ds.sum(axis=-1, keepdims=True)
            ds *= q.shape[-1] ** -0.5
            return (
                np.einsum("...mt,...td->...md", ds, k),
                np.einsum("...mt,...md->...td", ds, q),
                np.einsum("...mt,...md->...td", a, dc),
            )
            """,
            "PaddedAttention.backward": """
            dc = dc.reshape(*dc.shape[:2], self.num_heads, -1)
            dp = np.einsum("bmhd,bhtd->bhmt", dc, v)
            ds = p * (dp - np.einsum("bhmt,bhmt->bhm", dp, p)[..., None]) / np.sqrt(q.shape[3])
            dq = np.einsum("bhmt,bhtd->bmhd", ds, k)
            dk = np.einsum("bhmt,bhmd->bthd", ds, q)
            dv = np.einsum("bhmt,bmhd->bthd", p, dc)
            shape = (*dc.shape[:2], -1)
            return dq.reshape(shape), dk.reshape(shape), dv.reshape(shape)
            """,
        },
    ],
}
