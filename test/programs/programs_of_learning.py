"""Programs of machine learning, in the style of tutorials: ``np`` is NumPy or mlc.numpy, ``fw`` has grad, jit, scan."""

from __future__ import annotations

from typing import Any

from program_table import program


def sigmoid(np: Any, x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@program(steps=[3, 6], rate=[0.05, 0.1])
def linear_regression(np: Any, fw: Any, rng: Any, steps: int, rate: float) -> Any:
    x, y = np.array(rng.normal(size=(12, 3))), np.array(rng.normal(size=12))
    w = np.zeros(3, dtype=x.dtype)
    step = fw.jit(fw.grad(lambda w, x, y: np.mean((x @ w - y) ** 2)))
    for _ in range(steps):
        w = w - rate * step(w, x, y)
    return w


@program(ridge=[0.0, 0.5])
def normal_equations(np: Any, fw: Any, rng: Any, ridge: float) -> Any:
    x, y = np.array(rng.normal(size=(10, 3))), np.array(rng.normal(size=10))
    return np.linalg.solve(x.T @ x + ridge * np.eye(3), x.T.dot(y))


@program(momentum=[0.0, 0.9], nesterov=[False, True])
def softmax_regression(np: Any, fw: Any, rng: Any, momentum: float, nesterov: bool) -> Any:
    x, labels = np.array(rng.normal(size=(9, 4))), np.array(rng.integers(0, 3, size=9))
    onehot = (labels[:, None] == np.arange(3)).astype(x.dtype)

    def loss(w: Any) -> Any:
        logits = x @ w
        logits = logits - logits.max(axis=1, keepdims=True)
        return -np.mean(np.sum(onehot * (logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))), axis=1))

    w, v = np.zeros((4, 3), dtype=x.dtype), np.zeros((4, 3), dtype=x.dtype)
    for _ in range(3):
        g = fw.grad(loss)(w + momentum * v if nesterov else w)
        v = momentum * v - 0.3 * g
        w += v
    return w


@program(k=[2, 3, 4])
def k_means(np: Any, fw: Any, rng: Any, k: int) -> Any:
    x = np.array(rng.normal(size=(20, 2)))
    centers = x[:k]
    for _ in range(4):
        distance = np.sum((x[:, None, :] - centers[None, :, :]) ** 2, axis=-1)
        label = np.argmin(distance, axis=1)
        onehot = (label[:, None] == np.arange(k)[None, :]).astype(x.dtype)
        counts = np.maximum(onehot.sum(axis=0), 1.0)
        centers = (onehot.T @ x) / counts[:, None]
    return centers, label


@program(components=[1, 2, 3])
def principal_components(np: Any, fw: Any, rng: Any, components: int) -> Any:
    x = np.array(rng.normal(size=(15, 4)) * np.array([4.0, 3.0, 2.0, 1.0]) if np.__name__ == "numpy" else
                 rng.normal(size=(15, 4)) * [4.0, 3.0, 2.0, 1.0])  # fmt: skip
    x = x - np.mean(x, axis=0)
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    scores = x @ vt[:components].T
    return np.abs(scores), s[:components] ** 2 / np.sum(s**2)


@program(width=[3, 5], activation=["tanh", "relu", "gelu"])
def perceptron(np: Any, fw: Any, rng: Any, width: int, activation: str) -> Any:
    act = {
        "tanh": np.tanh,
        "relu": lambda x: np.maximum(x, 0),
        "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    }[activation]
    x, y = np.array(rng.normal(size=(8, 2))), np.array(rng.normal(size=8))
    sizes = (2 * width, width, width, 1)
    flat = np.array(rng.normal(size=sum(sizes)) * 0.5)

    def predict(flat: Any) -> Any:
        w1, b1, w2, b2 = np.split(flat, np.cumsum(np.array(sizes))[:-1].tolist())
        return act(x @ w1.reshape(2, width) + b1) @ w2 + b2[0]

    for _ in range(2):
        flat = flat - 0.1 * fw.grad(lambda flat: np.mean(np.square(predict(flat) - y)))(flat)
    return predict(flat)


@program(kind=["adam", "rmsprop", "adagrad", "adadelta", "lion"])
def optimizer(np: Any, fw: Any, rng: Any, kind: str) -> Any:
    a = np.array(rng.normal(size=(4, 4)))
    target = a.T @ a + np.eye(4)
    x = np.array(rng.normal(size=4))
    m, v = np.zeros_like(x), np.zeros_like(x)
    gradient = fw.jit(fw.grad(lambda x: 0.5 * x @ target @ x - np.sum(x)))
    for n in range(1, 5):
        g = gradient(x)
        if kind == "adam":
            m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
            x = x - 0.1 * (m / (1 - 0.9**n)) / (np.sqrt(v / (1 - 0.99**n)) + 1e-8)
        elif kind == "rmsprop":
            v = 0.9 * v + 0.1 * g**2
            x -= 0.05 * g / (np.sqrt(v) + 1e-6)
        elif kind == "adagrad":
            v += g**2
            x -= 0.3 * g / np.sqrt(v + 1e-6)
        elif kind == "adadelta":
            v = 0.9 * v + 0.1 * g**2
            step = -np.sqrt(m + 1e-2) / np.sqrt(v + 1e-2) * g
            m = 0.9 * m + 0.1 * step**2
            x = x + step
        else:
            x = x - 0.05 * np.sign(0.9 * m + 0.1 * g)
            m = 0.99 * m + 0.01 * g
    return x


@program(hidden=[2, 3])
def gated_recurrent_unit(np: Any, fw: Any, rng: Any, hidden: int) -> Any:
    xs = np.array(rng.normal(size=(5, 2)))
    w = np.array(rng.normal(size=(3, 2, hidden)))
    u = np.array(rng.normal(size=(3, hidden, hidden)))

    def cell(h: Any, x: Any) -> Any:
        z = sigmoid(np, x @ w[0] + h @ u[0])
        r = sigmoid(np, x @ w[1] + h @ u[1])
        h = (1 - z) * h + z * np.tanh(x @ w[2] + (r * h) @ u[2])
        return h, h

    return fw.scan(cell, np.zeros(hidden, dtype=xs.dtype), xs)


@program(hidden=[2, 4])
def long_short_term_memory(np: Any, fw: Any, rng: Any, hidden: int) -> Any:
    xs, w = np.array(rng.normal(size=(4, 3))), np.array(rng.normal(size=(3 + hidden, 4 * hidden)))

    def cell(state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = np.split(np.concatenate([x, h]) @ w, 4)
        c = sigmoid(np, f) * c + sigmoid(np, i) * np.tanh(g)
        h = sigmoid(np, o) * np.tanh(c)
        return (h, c), h

    zero = np.zeros(hidden, dtype=xs.dtype)
    return fw.scan(cell, (zero, zero), xs)[1]


@program(heads=[1, 2], causal=[True, False])
def attention(np: Any, fw: Any, rng: Any, heads: int, causal: bool) -> Any:
    x, w = np.array(rng.normal(size=(5, 4))), np.array(rng.normal(size=(3, 4, 4)))
    q, k, v = (np.transpose((x @ w[n]).reshape(5, heads, 4 // heads), (1, 0, 2)) for n in range(3))
    scores = np.einsum("hqd,hkd->hqk", q, k) / np.sqrt(4 // heads)
    if causal:
        scores = np.where(np.tril(np.ones((5, 5), dtype=bool)), scores, -1e9)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    return np.einsum("hqk,hkd->qhd", scores, v).reshape(5, 4)


@program(neighbours=[1, 3])
def nearest_neighbours(np: Any, fw: Any, rng: Any, neighbours: int) -> Any:
    x, labels = np.array(rng.normal(size=(12, 2))), np.array(rng.integers(0, 3, 12))
    q = np.array(rng.normal(size=(4, 2)))
    distance = np.linalg.norm(q[:, None] - x[None], axis=-1)
    near = np.argsort(distance, axis=1)[:, :neighbours]
    votes = np.sum(labels[near][..., None] == np.arange(3), axis=1)
    return np.argmax(votes, axis=1), np.sort(distance, axis=1)[:, 0]


@program(kernel=["rbf", "linear", "periodic"])
def gaussian_process(np: Any, fw: Any, rng: Any, kernel: str) -> Any:
    x, y, q = np.array(np.linspace(0, 3, 6)), np.array(rng.normal(size=6)), np.array(np.linspace(0.2, 2.8, 4))

    def distance(a: Any, b: Any) -> Any:
        return a[:, None] - b[None, :]

    k = {
        "rbf": lambda a, b: np.exp(-0.5 * distance(a, b) ** 2),
        "linear": lambda a, b: 1 + np.outer(a, b),
        "periodic": lambda a, b: np.exp(-2 * np.sin(np.pi * np.abs(distance(a, b)) / 2) ** 2),
    }[kernel]
    factor = np.linalg.cholesky(k(x, x) + 0.1 * np.eye(6))
    alpha = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    mean = k(q, x) @ alpha
    v = np.linalg.solve(factor, k(x, q))
    evidence = -0.5 * y @ alpha - np.sum(np.log(np.diag(factor))) - 3 * np.log(2 * np.pi)
    return mean, np.diag(k(q, q) - v.T @ v), evidence


@program(order=[1, 2, 3])
def polynomial_features(np: Any, fw: Any, rng: Any, order: int) -> Any:
    x, y = np.array(rng.uniform(-1, 1, 12)), np.array(rng.normal(size=12))
    features = np.stack([x**n for n in range(order + 1)], axis=1)
    w, *_ = np.linalg.lstsq(features, y, rcond=None)
    return w, np.polyfit(x, y, order)[::-1], np.sum((features @ w - y) ** 2)


@program(classes=[2, 3])
def naive_bayes(np: Any, fw: Any, rng: Any, classes: int) -> Any:
    x, label = np.array(rng.normal(size=(18, 3))), np.array(np.arange(18) % classes)
    means = np.stack([np.mean(x[np.arange(18) % classes == c], axis=0) for c in range(classes)])
    spread = np.stack([np.var(x[label == c], axis=0) for c in range(classes)])
    score = -0.5 * np.sum((x[:, None] - means) ** 2 / spread + np.log(spread), axis=-1)
    return np.argmax(score, axis=1), np.mean(np.argmax(score, axis=1) == label)


@program(steps=[2, 4])
def gaussian_mixture(np: Any, fw: Any, rng: Any, steps: int) -> Any:
    x = np.array(rng.normal(size=20))
    mean, spread, share = np.array([-1.0, 1.0]), np.array([1.0, 1.0]), np.array([0.5, 0.5])
    for _ in range(steps):
        density = share * np.exp(-0.5 * ((x[:, None] - mean) / spread) ** 2) / spread
        part = density / density.sum(axis=1, keepdims=True)
        total = part.sum(axis=0)
        mean = (part * x[:, None]).sum(axis=0) / total
        spread = np.sqrt((part * (x[:, None] - mean) ** 2).sum(axis=0) / total + 1e-3)
        share = total / len(x)
    return mean, spread, share


@program(alpha=[0.05, 0.3])
def lasso(np: Any, fw: Any, rng: Any, alpha: float) -> Any:
    x, y = np.array(rng.normal(size=(10, 4))), np.array(rng.normal(size=10))
    w = np.zeros(4, dtype=x.dtype)
    rate = 0.5 / np.linalg.norm(x, 2) ** 2
    for _ in range(5):
        w = w - rate * (x.T @ (x @ w - y))
        w = np.sign(w) * np.maximum(np.abs(w) - rate * alpha * 10, 0)
    return w


@program(margin=[1.0, 0.5])
def support_vector_machine(np: Any, fw: Any, rng: Any, margin: float) -> Any:
    x = np.array(rng.normal(size=(10, 3)))
    y = np.where(x[:, 0] + 0.3 * x[:, 1] > 0, 1.0, -1.0)

    def loss(w: Any) -> Any:
        return np.mean(np.maximum(0, margin - y * (x @ w))) + 0.1 * np.dot(w, w)

    w = np.array(rng.normal(size=3))
    for _ in range(3):
        w = w - 0.2 * fw.grad(loss)(w)
    return w


@program(delta=[0.5, 1.5])
def huber_regression(np: Any, fw: Any, rng: Any, delta: float) -> Any:
    x, y = np.array(rng.normal(size=(10, 2))), np.array(rng.standard_t(2, size=10))

    def loss(w: Any) -> Any:
        error = np.abs(x @ w - y)
        return np.mean(np.where(error < delta, 0.5 * error**2, delta * (error - 0.5 * delta)))

    return fw.grad(loss)(np.array([0.3, -0.2])), fw.value_and_grad(loss)(np.array([0.1, 0.1]))[0]


@program(size=[3, 4])
def layer_normalization(np: Any, fw: Any, rng: Any, size: int) -> Any:
    x = np.array(rng.normal(size=(size, 5)))

    def normal(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)

    return normal(x), fw.grad(lambda x: np.sum(normal(x) ** 3))(x)


@program(vocabulary=[5, 8])
def bigram_counts(np: Any, fw: Any, rng: Any, vocabulary: int) -> Any:
    text = np.array(rng.integers(0, vocabulary, size=30))
    counts = np.bincount(text[:-1] * vocabulary + text[1:], minlength=vocabulary**2).reshape(vocabulary, vocabulary)
    p = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
    return p, -np.mean(np.log(p[text[:-1], text[1:]]))


@program(threshold=[0.0, 0.4])
def confusion_matrix(np: Any, fw: Any, rng: Any, threshold: float) -> Any:
    score, truth = np.array(rng.normal(size=25)), np.array(rng.integers(0, 2, 25))
    guess = (score > threshold).astype(int)
    matrix = np.histogram2d(truth, guess, bins=2, range=[[0, 1], [0, 1]])[0]
    order = np.argsort(-score)
    true = np.cumsum(truth[order]) / np.sum(truth)
    false = np.cumsum(1 - truth[order]) / np.sum(1 - truth)
    return matrix, np.trapezoid(true, false)
