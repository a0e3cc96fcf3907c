"""Programs of signals, images, statistics and state estimation."""

from __future__ import annotations

from typing import Any

from program_table import program


@program(noise=[0.1, 1.0], steps=[4, 7])
def kalman_filter(np: Any, fw: Any, rng: Any, noise: float, steps: int) -> Any:
    f = np.array([[1.0, 0.1], [0.0, 1.0]], dtype="float64")
    h, q = np.array([[1.0, 0.0]], dtype="float64"), 0.01 * np.eye(2, dtype="float64")
    r = noise * np.eye(1, dtype="float64")
    seen = np.array(rng.normal(size=(steps, 1)))

    def step(state: Any, z: Any) -> Any:
        x, p = state
        x, p = f @ x, f @ p @ f.T + q
        gain = p @ h.T @ np.linalg.inv(h @ p @ h.T + r)
        x, p = x + gain @ (z - h @ x), (np.eye(2, dtype="float64") - gain @ h) @ p
        return (x, p), x

    start = (np.zeros(2, dtype="float64"), np.eye(2, dtype="float64"))
    (x, p), path = fw.scan(step, start, seen)
    return x, p, path


@program(filter=["sobel", "blur", "sharpen", "emboss"], mode=["edge", "constant"])
def image_filter(np: Any, fw: Any, rng: Any, filter: str, mode: str) -> Any:
    image = np.array(rng.uniform(size=(6, 7)))
    kernel = {
        "sobel": [[1, 0, -1], [2, 0, -2], [1, 0, -1]],
        "blur": [[1 / 9] * 3] * 3,
        "sharpen": [[0, -1, 0], [-1, 5, -1], [0, -1, 0]],
        "emboss": [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]],
    }[filter]
    padded = np.pad(image, 1, mode=mode)
    rows, columns = image.shape
    return sum(kernel[a][b] * padded[a : a + rows, b : b + columns] for a in range(3) for b in range(3))


@program(window=[2, 3, 5])
def moving_average(np: Any, fw: Any, rng: Any, window: int) -> Any:
    x = np.array(rng.normal(size=12))
    total = np.cumsum(np.concatenate([np.zeros(1), x]))
    return (total[window:] - total[:-window]) / window, np.convolve(x, np.ones(window) / window, mode="valid")


@program(alpha=[0.1, 0.7])
def exponential_smoothing(np: Any, fw: Any, rng: Any, alpha: float) -> Any:
    x = np.array(rng.normal(size=10))
    return fw.scan(lambda s, v: ((1 - alpha) * s + alpha * v, s), x[0], x)


@program(bins=[4, 7])
def histogram_equalization(np: Any, fw: Any, rng: Any, bins: int) -> Any:
    image = np.array(rng.uniform(size=(5, 6)))
    counts, edges = np.histogram(image, bins=bins, range=(0.0, 1.0))
    share = np.cumsum(counts) / counts.sum()
    return counts, edges, np.interp(image.ravel(), edges[1:], share)


@program(quality=[0.1, 0.5])
def cosine_transform(np: Any, fw: Any, rng: Any, quality: float) -> Any:
    n = 6
    grid = np.arange(n)
    basis = np.cos(np.pi * (grid[:, None].astype("float64") + 0.5) * grid[None, :] / n)
    basis = basis * np.where(grid == 0, np.sqrt(1 / n), np.sqrt(2 / n))
    x = np.array(rng.normal(size=(n, n)))
    c = basis.T @ x @ basis
    kept = np.where(np.abs(c) > quality, c, 0.0)
    return basis @ kept @ basis.T, np.count_nonzero(kept)


@program(lag=[1, 3])
def autocorrelation(np: Any, fw: Any, rng: Any, lag: int) -> Any:
    x = np.array(rng.normal(size=14))
    x = x - x.mean()
    full = np.correlate(x, x, mode="full")[len(x) - 1 :]
    return full / full[0], np.corrcoef(x[:-lag], x[lag:])[0, 1]


@program(samples=[50, 200])
def monte_carlo_pi(np: Any, fw: Any, rng: Any, samples: int) -> Any:
    p = np.array(rng.uniform(-1, 1, (samples, 2)))
    inside = np.sum(p**2, axis=1) <= 1
    return 4 * np.mean(inside), np.std(inside.astype("float64"), ddof=1) / np.sqrt(samples)


@program(scale=[0.3, 1.5])
def metropolis(np: Any, fw: Any, rng: Any, scale: float) -> Any:
    steps, u = np.array(rng.normal(size=30)) * scale, np.array(rng.uniform(size=30))
    density = lambda x: np.exp(-0.5 * x**2) + 0.5 * np.exp(-2 * (x - 2) ** 2)  # noqa: E731

    def step(x: Any, given: Any) -> Any:
        proposed = x + given[0]
        x = np.where(given[1] < density(proposed) / density(x), proposed, x)
        return x, x

    return fw.scan(step, np.array(0.0, dtype="float64"), (steps, u))[1]


@program(leaps=[2, 5])
def hamiltonian_monte_carlo(np: Any, fw: Any, rng: Any, leaps: int) -> Any:
    x, p = np.array(rng.normal(size=3)), np.array(rng.normal(size=3))
    potential = lambda x: 0.5 * np.sum(x**2) + 0.1 * np.sum(x**4)  # noqa: E731
    slope = fw.grad(potential)
    before = potential(x) + 0.5 * np.dot(p, p)
    p = p - 0.05 * slope(x)
    for _ in range(leaps):
        x = x + 0.1 * p
        p = p - 0.1 * slope(x)
    return x, p, np.minimum(1.0, np.exp(before - potential(x) - 0.5 * np.dot(p, p)))


@program(draws=[4, 9])
def bootstrap(np: Any, fw: Any, rng: Any, draws: int) -> Any:
    x, at = np.array(rng.normal(size=15)), np.array(rng.integers(0, 15, (draws, 15)))
    means = np.mean(x[at], axis=1)
    return np.percentile(means, [5.0, 50.0, 95.0]), np.median(np.take(x, at), axis=1)


@program(kernel=["gauss", "box"])
def density_estimate(np: Any, fw: Any, rng: Any, kernel: str) -> Any:
    x, at = np.array(rng.normal(size=12)), np.linspace(-2, 2, 9).astype("float64")
    z = (at[:, None] - x[None, :]) / 0.4
    weight = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) if kernel == "gauss" else np.where(np.abs(z) < 1, 0.5, 0.0)
    return weight.mean(axis=1) / 0.4


@program(states=[2, 3])
def viterbi(np: Any, fw: Any, rng: Any, states: int) -> Any:
    change = np.log(np.array(rng.dirichlet(np.ones(states) if np.__name__ == "numpy" else [1.0] * states, size=states)))
    seen = np.log(np.array(rng.uniform(0.1, 1, (6, states))))
    score, back = seen[0], []
    for n in range(1, 6):
        each = score[:, None] + change
        back.append(np.argmax(each, axis=0))
        score = np.max(each, axis=0) + seen[n]
    path = [int(np.argmax(score))]
    for row in reversed(back):
        path.append(int(row[path[-1]]))
    return score, path[::-1]


@program(states=[2, 4])
def forward_algorithm(np: Any, fw: Any, rng: Any, states: int) -> Any:
    change = np.array(rng.uniform(0.1, 1, (states, states)))
    change = change / change.sum(axis=1, keepdims=True)
    seen = np.array(rng.uniform(0.1, 1, (5, states)))

    def step(alpha: Any, likelihood: Any) -> Any:
        alpha = (alpha @ change) * likelihood
        return alpha / alpha.sum(), np.log(alpha.sum())

    alpha, logs = fw.scan(step, np.full(states, 1 / states, dtype="float64"), seen)
    return alpha, logs.sum()


@program(damping=[0.85, 0.5])
def page_rank(np: Any, fw: Any, rng: Any, damping: float) -> Any:
    links = (np.array(rng.uniform(size=(6, 6))) > 0.5).astype("float64")
    links[np.arange(6), (np.arange(6) + 1) % 6] = 1.0
    move = links / links.sum(axis=1, keepdims=True)
    rank = np.full(6, 1 / 6, dtype="float64")
    for _ in range(10):
        rank = (1 - damping) / 6 + damping * rank @ move
    return rank, np.argsort(-rank)


@program(nodes=[4, 5])
def shortest_paths(np: Any, fw: Any, rng: Any, nodes: int) -> Any:
    d = np.array(rng.uniform(1, 9, (nodes, nodes)))
    d[np.arange(nodes), np.arange(nodes)] = 0
    for k in range(nodes):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


@program(size=[5, 8])
def sliding_windows(np: Any, fw: Any, rng: Any, size: int) -> Any:
    x = np.array(rng.normal(size=12))
    at = np.arange(12 - size + 1)[:, None] + np.arange(size)[None, :]
    return x[at].max(axis=1), np.ptp(x[at], axis=1), np.apply_along_axis(np.median, 1, x[at])


@program(k=[1, 2])
def tri_diagonal_product(np: Any, fw: Any, rng: Any, k: int) -> Any:
    a = np.diag(np.array(rng.normal(size=5))) + np.diag(np.ones(5 - k), k) - np.diag(np.ones(5 - k), -k)
    return np.linalg.matrix_power(a, 3), np.trace(a), np.triu(a) @ np.tril(a), np.kron(a[:2, :2], np.eye(2))


@program(batch=[2, 3])
def batched_distances(np: Any, fw: Any, rng: Any, batch: int) -> Any:
    x, y = np.array(rng.normal(size=(batch, 4, 2))), np.array(rng.normal(size=(batch, 3, 2)))
    one = lambda a, b: np.sqrt(np.sum((a[:, None] - b[None]) ** 2, axis=-1))  # noqa: E731
    return fw.vmap(one)(x, y), fw.vmap(one, in_axes=(0, None))(x, y[0])


@program(price=[0.9, 1.1])
def black_scholes(np: Any, fw: Any, rng: Any, price: float) -> Any:
    normal = lambda x: 1 / (1 + np.exp(-1.702 * x))  # noqa: E731

    def call(s: Any) -> Any:
        d = (np.log(s) + 0.02) / 0.2
        return s * normal(d) - normal(d - 0.2)

    return call(np.array(price, dtype="float64")), fw.grad(call)(np.array(price, dtype="float64"))


@program(order=[2, 3])
def bezier_curve(np: Any, fw: Any, rng: Any, order: int) -> Any:
    points, t = np.array(rng.normal(size=(order + 1, 2))), np.linspace(0, 1, 5).astype("float64")
    level = np.repeat(points[None], 5, axis=0)
    for _ in range(order):
        level = (1 - t)[:, None, None] * level[:, :-1] + t[:, None, None] * level[:, 1:]
    return np.squeeze(level, 1)


@program(width=[6, 9])
def mandelbrot(np: Any, fw: Any, rng: Any, width: int) -> Any:
    x, y = np.meshgrid(np.linspace(-2, 0.5, width).astype("float64"), np.linspace(-1, 1, 5).astype("float64"))
    c = x + 1j * y
    z, count = np.zeros_like(c), np.zeros(c.shape, dtype=int)
    for _ in range(8):
        z = np.where(np.abs(z) <= 2, z * z + c, z)
        count += (np.abs(z) <= 2).astype(int)
    return count


@program(size=[3, 5])
def run_lengths(np: Any, fw: Any, rng: Any, size: int) -> Any:
    x = np.array(rng.integers(0, 2, 4 * size))
    edges = np.flatnonzero(np.diff(x))
    starts = np.concatenate([np.array([0]), edges + 1])
    return x[starts], np.diff(np.append(starts, len(x))), np.unique(x, return_counts=True)


@program(axis=[0, 1])
def standardize(np: Any, fw: Any, rng: Any, axis: int) -> Any:
    x = np.array(rng.normal(size=(5, 4)))
    x[1, 2] = np.nan
    middle, spread = np.nanmean(x, axis=axis, keepdims=True), np.nanstd(x, axis=axis, keepdims=True)
    z = np.nan_to_num((x - middle) / spread)
    return z, np.clip(z, -1, 1), np.isnan(x).sum(), np.nanmax(x, axis)


@program(size=[4, 5])
def gram_schmidt(np: Any, fw: Any, rng: Any, size: int) -> Any:
    a = np.array(rng.normal(size=(size, size)))
    q = np.zeros_like(a)
    for n in range(size):
        v = a[:, n] - q[:, :n] @ (q[:, :n].T @ a[:, n])
        q[:, n] = v / np.linalg.norm(v)
    return q, np.allclose(q.T @ q, np.eye(size), atol=1e-6)


@program(kind=["inclusive", "exclusive"])
def prefix_sums(np: Any, fw: Any, rng: Any, kind: str) -> Any:
    x = np.array(rng.integers(0, 9, 11))
    total = np.cumsum(x)
    return total if kind == "inclusive" else total - x, np.searchsorted(total, [5, 20]), np.cumprod(x[:4])


@program(count=[5, 10])
def polynomials(np: Any, fw: Any, rng: Any, count: int) -> Any:
    c, x = np.array(rng.normal(size=4)), np.linspace(-1, 1, count).astype("float64")
    return np.polyval(c, x), np.polyval(np.polyder(c), x), np.vander(x, 3), np.polymul(c, c[:2])


@program(cut=[0.2, 0.6])
def image_spectrum(np: Any, fw: Any, rng: Any, cut: float) -> Any:
    image = np.array(rng.normal(size=(6, 8)))
    radius = np.hypot(np.fft.fftfreq(6)[:, None], np.fft.fftfreq(8)[None, :])
    kept = np.fft.fft2(image) * (radius <= cut)
    return np.real(np.fft.ifft2(kept)), np.abs(np.fft.fftshift(kept)), np.fft.irfft2(np.fft.rfft2(image))


@program(radius=[1, 2])
def bilateral_filter(np: Any, fw: Any, rng: Any, radius: int) -> Any:
    image = np.array(rng.uniform(size=(5, 6)))
    padded = np.pad(image, radius, mode="reflect")
    total, weights = np.zeros_like(image), np.zeros_like(image)
    for a in range(2 * radius + 1):
        for b in range(2 * radius + 1):
            part = padded[a : a + 5, b : b + 6]
            w = np.exp(-((a - radius) ** 2 + (b - radius) ** 2) / 4 - (part - image) ** 2 / 0.1)
            total += w * part
            weights += w
    return total / weights


@program(size=[2, 3])
def max_pooling(np: Any, fw: Any, rng: Any, size: int) -> Any:
    x = np.array(rng.normal(size=(2, 6, 6)))
    tiles = x.reshape(2, 6 // size, size, 6 // size, size)
    return tiles.max(axis=(2, 4)), tiles.mean((2, 4)), np.transpose(tiles, (0, 1, 3, 2, 4)).reshape(2, -1, size * size)


@program(threshold=[0.3, 0.7])
def connected_threshold(np: Any, fw: Any, rng: Any, threshold: float) -> Any:
    image = np.array(rng.uniform(size=(6, 6)))
    mask = image > threshold
    label = np.where(mask, np.arange(36).reshape(6, 6) + 1, 0)
    for _ in range(6):
        padded = np.pad(label, 1)
        near = np.stack([padded[1:-1, 1:-1], padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
        label = np.where(mask, near.max(axis=0), 0)
    return label, len(np.unique(label)), np.argwhere(mask)


@program(horizon=[3, 5])
def riccati_recursion(np: Any, fw: Any, rng: Any, horizon: int) -> Any:
    a, b = np.array([[1.0, 0.1], [0.0, 1.0]], dtype="float64"), np.array([[0.0], [0.1]], dtype="float64")
    q, r = np.eye(2, dtype="float64"), np.array([[0.1]], dtype="float64")
    p, gains = q, []
    for _ in range(horizon):
        k = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
        p = q + a.T @ p @ (a - b @ k)
        gains.append(k)
    return p, np.concatenate(gains, axis=0)


@program(particles=[10, 30])
def particle_filter(np: Any, fw: Any, rng: Any, particles: int) -> Any:
    x, seen, noise = np.array(rng.normal(size=particles)), np.array(rng.normal(size=4)), rng.normal(size=(4, particles))
    for n in range(4):
        x = 0.9 * x + 0.3 * np.array(noise[n])
        w = np.exp(-0.5 * (seen[n] - x) ** 2)
        edges = np.cumsum(w / w.sum())
        at = np.minimum(np.searchsorted(edges, (np.arange(particles) + 0.5) / particles), particles - 1)
        x = x[at]
    return np.sort(x)[:3], x.mean()


@program(groups=[2, 3])
def analysis_of_variance(np: Any, fw: Any, rng: Any, groups: int) -> Any:
    x, label = np.array(rng.normal(size=12)), np.arange(12) % groups
    count = np.bincount(label)
    means = np.bincount(label, weights=x) / count
    between = np.sum(count * (means - x.mean()) ** 2) / (groups - 1)
    within = np.sum((x - means[label]) ** 2) / (12 - groups)
    return between / within, np.quantile(x, [0.25, 0.5, 0.75]), np.lexsort((x, label))


@program(shift=[3, 11])
def caesar_cipher(np: Any, fw: Any, rng: Any, shift: int) -> Any:
    letters = np.array(rng.integers(0, 26, 20))
    coded = np.mod(letters + shift, 26)
    return coded, np.bincount(coded, minlength=26), np.all((coded - shift) % 26 == letters)


@program(n=[20, 50])
def sieve_of_primes(np: Any, fw: Any, rng: Any, n: int) -> Any:
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    for k in range(2, int(n**0.5) + 1):
        prime[k * k :: k] = False
    return np.flatnonzero(prime), np.gcd(np.arange(1, n), 12).sum()


@program(size=[5, 6])
def magic_indexing(np: Any, fw: Any, rng: Any, size: int) -> Any:
    a = np.arange(size * size).reshape(size, size)
    i, j = np.tril_indices(size, -1)
    rows = np.array([0, size - 1])
    return a[i, j], a[rows[:, None], [1, 2]], a[np.ix_([0, 2], [1, 3])], np.diag(np.fliplr(a)), a[::-1, ::2], a[..., -1]


@program(rate=[0.1, 0.5])
def policy_values(np: Any, fw: Any, rng: Any, rate: float) -> Any:
    reward, move = np.array(rng.normal(size=(4, 2))), np.array(rng.integers(0, 4, (4, 2)))
    q = np.zeros((4, 2), dtype="float64")
    for _ in range(6):
        q = (1 - rate) * q + rate * (reward + 0.9 * q[move].max(axis=-1))
    return q, np.argmax(q, axis=1), np.exp(q) / np.exp(q).sum(axis=1, keepdims=True)
