"""As right_answers.py, for the exercises from 11 on."""

BUGS = "right b2 c2 right e4 right g3 h3 i2 right k7 right"

RIGHT = {
    11: [
        {
            "backward": """
            self.table.add_grad(self.scale * dlogits.T @ h)
            self.bias.add_grad(dlogits.sum(axis=0))
            np.add.at(self.table.grad, ids, self.scale * dlogits @ self.table.value)
            """
        },
        {
            "backward": """
            E, a = self.table.value, self.scale
            dE, dc = np.zeros(E.shape), np.zeros(len(E))
            for n, read in enumerate(ids):
                for v in range(len(E)):
                    dc[v] += dlogits[n, v]
                    for d in range(E.shape[1]):
                        dE[v, d] += a * dlogits[n, v] * E[read, d]
                        dE[read, d] += a * dlogits[n, v] * E[v, d]
            self.table.add_grad(dE)
            self.bias.add_grad(dc)
            """
        },
        {
            "backward": """
            onehot = np.eye(len(self.table.value))[ids]
            dlogits = dlogits * self.scale
            self.table.grad[...] += np.einsum("nv,nd->vd", dlogits, h)
            self.table.add_grad(np.einsum("nw,nv,vd->wd", onehot, dlogits, self.table.value))
            self.bias.grad[...] += dlogits.sum(axis=0) / self.scale
            """
        },
    ],
    12: [
        {
            "mask_words": """
            masked, labels = list(input_ids), [IGNORED] * len(input_ids)
            for place in rng.choice(candidates, size=count, replace=False):
                labels[place] = input_ids[place]
                draw = rng.random()
                if draw < 0.8:
                    masked[place] = vocabulary.mask_id
                elif draw < 0.9:
                    masked[place] = int(rng.choice(vocabulary.word_ids))
            return masked, labels
            """
        },
        {
            "mask_words": """
            masked, labels = np.array(input_ids), np.full(len(input_ids), IGNORED)
            chosen = rng.permutation(candidates)[:count]
            labels[chosen] = masked[chosen]
            kinds = rng.random(count)
            masked[chosen[kinds < 0.8]] = vocabulary.mask_id
            random = chosen[(kinds >= 0.8) & (kinds < 0.9)]
            masked[random] = rng.choice(vocabulary.word_ids, size=len(random))
            return masked.tolist(), labels.tolist()
            """
        },
        {
            "mask_words": """
            chosen = set()
            while len(chosen) < count:
                chosen.add(int(candidates[rng.integers(len(candidates))]))
            masked, labels = [], []
            for place, word in enumerate(input_ids):
                labels.append(word if place in chosen else -100)
                if place in chosen:
                    kind = rng.integers(10)
                    if kind < 8:
                        word = vocabulary.mask_id
                    elif kind == 8:
                        word = vocabulary.word_ids[rng.integers(len(vocabulary.word_ids))]
                masked.append(word)
            return [masked, labels]
            """
        },
    ],
    13: [
        {
            "accumulate": """
            counts = [int((labels != IGNORED).sum()) for _, labels in pieces]
            mean = 0.0
            for (x, labels), count in zip(pieces, counts):
                share = count / sum(counts)
                tape = Tape()
                mean += share * loss.forward(layer.forward(x, tape), labels, tape)
                layer.backward(loss.backward(share, tape), tape)
            return mean
            """,
            "clip_by_global_norm": """
            parameters = list(dict.fromkeys(parameters))
            norm = math.sqrt(sum((p.grad**2).sum() for p in parameters))
            if norm > max_norm:
                for p in parameters:
                    p.grad[...] *= max_norm / norm
            return norm
            """,
        },
        {
            "accumulate": """
            tapes, means, counts = [Tape() for _ in pieces], [], []
            for (x, labels), tape in zip(pieces, tapes):
                means.append(loss.forward(layer.forward(x, tape), labels, tape))
                counts.append(sum(int(label) != -100 for label in labels))
            for tape, count in zip(tapes[::-1], counts[::-1]):
                layer.backward(loss.backward(count / sum(counts), tape), tape)
            return float(np.average(means, weights=counts))
            """,
            "clip_by_global_norm": """
            different = []
            for p in parameters:
                if not any(p is q for q in different):
                    different.append(p)
            norm = np.linalg.norm(np.concatenate([p.grad.ravel() for p in different]))
            for p in different:
                for place in np.ndindex(p.grad.shape):
                    p.grad[place] = p.grad[place] * min(1, max_norm / (norm + 1e-6))
            return norm
            """,
        },
        {
            "accumulate": """
            total = sum(np.count_nonzero(labels >= 0) for _, labels in pieces)
            summed = 0
            for x, labels in pieces:
                n, tape = np.count_nonzero(labels >= 0), Tape()
                summed += n * loss.forward(layer.forward(x, tape), labels, tape)
                layer.backward(n / total * loss.backward(1.0, tape), tape)
            return summed / total
            """,
            "clip_by_global_norm": """
            parameters = set(parameters)
            norm = sum(np.vdot(p.grad, p.grad) for p in parameters) ** 0.5
            factor = max_norm / max(norm, max_norm)
            for p in parameters:
                np.multiply(p.grad, factor, out=p.grad)
            return float(norm)
            """,
        },
    ],
    14: [
        {
            "step": """
            self.steps += 1
            beta1, beta2 = self.betas
            for parameter, m, v in zip(self.parameters, self.first_moments, self.second_moments):
                g = parameter.grad * scale
                m[...] = beta1 * m + (1 - beta1) * g
                v[...] = beta2 * v + (1 - beta2) * g**2
                m_hat = m / (1 - beta1**self.steps)
                v_hat = v / (1 - beta2**self.steps)
                parameter.value *= self.kept(parameter)
                parameter.value -= self.lr * m_hat / (np.sqrt(v_hat) + self.eps)
            """,
            "kept": "return 1 - self.lr * self.weight_decay if parameter.value.ndim > 1 else 1.0",
        },
        {
            "step": """
            self.steps += 1
            t = self.steps
            for i, parameter in enumerate(self.parameters):
                m, v = self.first_moments[i], self.second_moments[i]
                keep = self.kept(parameter)
                for place in np.ndindex(parameter.value.shape):
                    g = scale * parameter.grad[place]
                    m[place] += (1 - self.betas[0]) * (g - m[place])
                    v[place] += (1 - self.betas[1]) * (g * g - v[place])
                    step = m[place] / (1 - self.betas[0] ** t)
                    step /= (v[place] / (1 - self.betas[1] ** t)) ** 0.5 + self.eps
                    parameter.value[place] = keep * parameter.value[place] - self.lr * step
            """,
            "kept": """
            if parameter.value.ndim == 1:
                return 1
            return 1 - self.weight_decay * self.lr
            """,
        },
        {
            "step": """
            self.steps = self.steps + 1
            for i, parameter in enumerate(self.parameters):
                g = parameter.grad * scale
                self.first_moments[i] = self.betas[0] * self.first_moments[i] + (1 - self.betas[0]) * g
                self.second_moments[i] = self.betas[1] * self.second_moments[i] + (1 - self.betas[1]) * g * g
                root = np.sqrt(1 - self.betas[1] ** self.steps)
                step = self.lr * root / (1 - self.betas[0] ** self.steps)
                new = parameter.value * self.kept(parameter)
                new -= step * self.first_moments[i] / (np.sqrt(self.second_moments[i]) + self.eps * root)
                parameter.value[...] = new
            """,
            "kept": "return 1.0 - (len(parameter.value.shape) >= 2) * self.lr * self.weight_decay",
        },
    ],
    15: [
        {"ANSWERS": dict(zip("abcdefghijkl", answers.split(), strict=True))} for answers in (BUGS, BUGS.upper(), BUGS)
    ],
}
