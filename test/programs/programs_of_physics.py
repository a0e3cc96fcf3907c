"""Programs of physics, dynamics and numerical analysis."""

from __future__ import annotations

from typing import Any

from program_table import program


@program(steps=[3, 8], boundary=["periodic", "fixed"])
def heat_equation(np: Any, fw: Any, rng: Any, steps: int, boundary: str) -> Any:
    u = np.array(rng.normal(size=16))
    for _ in range(steps):
        if boundary == "periodic":
            u = u + 0.2 * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
        else:
            u[1:-1] += 0.2 * (u[:-2] - 2 * u[1:-1] + u[2:])
    return u


@program(size=[5, 7])
def laplace_by_jacobi(np: Any, fw: Any, rng: Any, size: int) -> Any:
    u = np.zeros((size, size), dtype="float64")
    u[0, :] = 1.0
    u[:, -1] = np.linspace(1.0, 0.0, size)
    for _ in range(6):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u, np.max(np.abs(u))


@program(bodies=[2, 4], steps=[2, 4])
def n_body(np: Any, fw: Any, rng: Any, bodies: int, steps: int) -> Any:
    x, v = np.array(rng.normal(size=(bodies, 3))), np.array(rng.normal(size=(bodies, 3)))
    mass = np.array(rng.uniform(0.5, 2, bodies))

    def acceleration(x: Any) -> Any:
        away = x[None, :, :] - x[:, None, :]
        distance = np.sqrt(np.sum(away**2, axis=-1) + 0.1)
        return np.einsum("ijk,ij,j->ik", away, distance**-3, mass)

    for _ in range(steps):
        v = v + 0.005 * acceleration(x)
        x = x + 0.01 * v
        v = v + 0.005 * acceleration(x)
    return x, 0.5 * np.sum(mass[:, None] * v**2)


@program(system=["lorenz", "lotka", "pendulum", "van_der_pol"], method=["euler", "rk4", "heun"])
def ordinary_equations(np: Any, fw: Any, rng: Any, system: str, method: str) -> Any:
    slopes = {
        "lorenz": lambda s: np.stack([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]),
        "lotka": lambda s: np.stack([1.1 * s[0] - 0.4 * s[0] * s[1], 0.1 * s[0] * s[1] - 0.4 * s[1]]),
        "pendulum": lambda s: np.stack([s[1], -9.81 * np.sin(s[0]) - 0.1 * s[1]]),
        "van_der_pol": lambda s: np.array([s[1], 1.5 * (1 - s[0] ** 2) * s[1] - s[0]]),
    }
    f, h = slopes[system], 0.01

    def step(s: Any, _: Any) -> Any:
        a = f(s)
        if method == "euler":
            s = s + h * a
        elif method == "heun":
            s = s + h / 2 * (a + f(s + h * a))
        else:
            b = f(s + h / 2 * a)
            c = f(s + h / 2 * b)
            s = s + h / 6 * (a + 2 * b + 2 * c + f(s + h * c))
        return s, s

    start = np.array(rng.uniform(0.5, 1.5, 3 if system == "lorenz" else 2))
    return fw.scan(step, start, None, length=5)[1]


@program(generations=[1, 4])
def game_of_life(np: Any, fw: Any, rng: Any, generations: int) -> Any:
    board = np.array(rng.integers(0, 2, (8, 8)))
    for _ in range(generations):
        shifts = ((a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0))
        around = sum(np.roll(board, shift, axis=(0, 1)) for shift in shifts)
        board = np.where((around == 3) | ((board == 1) & (around == 2)), 1, 0)
    return board, board.sum()


@program(rule=[30, 90, 110])
def cellular_automaton(np: Any, fw: Any, rng: Any, rule: int) -> Any:
    table = np.array([(rule >> n) & 1 for n in range(8)])
    cells, rows = np.zeros(15, dtype=int), []
    cells[7] = 1
    for _ in range(6):
        rows.append(cells)
        cells = table[4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)]
    return np.stack(rows)


@program(size=[4, 6])
def ising_energy(np: Any, fw: Any, rng: Any, size: int) -> Any:
    spins = 2 * np.array(rng.integers(0, 2, (size, size))) - 1
    energy = -np.sum(spins * (np.roll(spins, 1, 0) + np.roll(spins, 1, 1)))
    flips = 2 * spins * sum(np.roll(spins, s, a) for s in (1, -1) for a in (0, 1))
    return energy, flips, np.abs(spins.mean())


@program(points=[16, 12, 15])
def spectral_derivative(np: Any, fw: Any, rng: Any, points: int) -> Any:
    x = np.arange(points) * (2 * np.pi / points)
    u = np.exp(np.sin(x.astype("float64")))
    k = np.fft.fftfreq(points, 1 / points).astype("float64")
    return np.real(np.fft.ifft(1j * k * np.fft.fft(u)))


@program(keep=[2, 4])
def low_pass_filter(np: Any, fw: Any, rng: Any, keep: int) -> Any:
    signal = np.array(rng.normal(size=16))
    spectrum = np.fft.rfft(signal)
    kept = np.where(np.arange(9) < keep, spectrum, 0)
    power = np.abs(spectrum) ** 2
    return np.fft.irfft(kept, 16) if np.__name__ == "numpy" else np.fft.irfft(kept, n=16), power / power.sum()


@program(steps=[2, 5])
def wave_equation(np: Any, fw: Any, rng: Any, steps: int) -> Any:
    x = np.linspace(0, 1, 20).astype("float64")
    now = np.exp(-100 * (x - 0.5) ** 2)
    before = now
    for _ in range(steps):
        after = 2 * now - before
        after = after + np.pad(0.25 * np.diff(now, 2), 1)
        before, now = now, after
    return now, np.trapezoid(now, x)


@program(order=[3, 5])
def quadrature(np: Any, fw: Any, rng: Any, order: int) -> Any:
    x = np.linspace(0.0, 1.0, 2 ** (order) + 1).astype("float64")
    y = np.exp(-x) * np.cos(3 * x)
    h = x[1] - x[0]
    simpson = h / 3 * (y[0] + 4 * np.sum(y[1:-1:2]) + 2 * np.sum(y[2:-1:2]) + y[-1])
    return simpson, np.trapezoid(y, x), np.cumsum(y) * h


@program(f=["cubic", "cosine", "exponential", "root"])
def newton_method(np: Any, fw: Any, rng: Any, f: str) -> Any:
    functions = {
        "cubic": lambda x: x**3 - 2 * x - 5,
        "cosine": lambda x: np.cos(x) - x,
        "exponential": lambda x: np.exp(x) - 3 * x - 1,
        "root": lambda x: np.sqrt(x) + np.log1p(x) - 2,
    }
    g = functions[f]
    x = np.array(2.0, dtype="float64")
    for _ in range(4):
        x = x - g(x) / fw.grad(g)(x)
    return x


@program(iterations=[3, 6])
def conjugate_gradient(np: Any, fw: Any, rng: Any, iterations: int) -> Any:
    m = np.array(rng.normal(size=(6, 6)))
    a, b = m @ m.T + np.eye(6), np.array(rng.normal(size=6))
    x = np.zeros(6, dtype=b.dtype)
    r = b - a @ x
    p = r
    for _ in range(iterations):
        alpha = np.vdot(r, r) / np.vdot(p, a @ p)
        x, new = x + alpha * p, r - alpha * (a @ p)
        p, r = new + np.vdot(new, new) / np.vdot(r, r) * p, new
    return x


@program(steps=[5, 20])
def power_iteration(np: Any, fw: Any, rng: Any, steps: int) -> Any:
    m = np.array(rng.normal(size=(5, 5)))
    m = m @ m.T
    v = fw.fori_loop(0, steps, lambda n, v: m @ v / np.linalg.norm(m @ v), np.ones(5, dtype=m.dtype))
    return v @ m @ v, np.abs(v)


@program(limit=[10.0, 100.0])
def collatz_like_loop(np: Any, fw: Any, rng: Any, limit: float) -> Any:
    x = np.array(rng.uniform(1, 2, 4))
    return fw.while_loop(lambda s: np.max(s[1]) < limit, lambda s: (s[0] + 1, s[1] * 1.5 + 0.1), (0, x))


@program(stiffness=[1.0, 5.0])
def spring_chain(np: Any, fw: Any, rng: Any, stiffness: float) -> Any:
    x = np.array(rng.normal(size=5)) * 0.1 + np.arange(5)
    energy = lambda x: 0.5 * stiffness * np.sum((np.diff(x) - 1) ** 2)  # noqa: E731
    force = -fw.grad(energy)(x)
    second = stiffness * (2 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1))
    return energy(x), force, np.linalg.eigvalsh(second[1:-1, 1:-1].astype("float64"))


@program(particles=[3, 5])
def lennard_jones(np: Any, fw: Any, rng: Any, particles: int) -> Any:
    cells = rng.permutation(27)[:particles].reshape(-1, 1) // [9, 3, 1] % 3
    x = np.array(cells * 1.2 + rng.normal(size=(particles, 3)) * 0.05)
    i, j = np.triu_indices(particles, 1)

    def energy(x: Any) -> Any:
        r2 = np.sum((x[i] - x[j]) ** 2, axis=1)
        return np.sum(4 * (r2**-6.0 - r2**-3.0))

    return energy(x), fw.grad(energy)(x)


@program(size=[4, 6])
def thomas_algorithm(np: Any, fw: Any, rng: Any, size: int) -> Any:
    a, b, c, d = (np.array(rng.uniform(0.1, 1, size)) + shift for shift in (0, 3, 0, 0))
    c, d = c.copy(), d.copy()
    c[0], d[0] = c[0] / b[0], d[0] / b[0]
    for n in range(1, size):
        scale = b[n] - a[n] * c[n - 1]
        c[n] = c[n] / scale
        d[n] = (d[n] - a[n] * d[n - 1]) / scale
    for n in range(size - 2, -1, -1):
        d[n] -= c[n] * d[n + 1]
    return d


@program(angle=[0.3, 2.0])
def rotations(np: Any, fw: Any, rng: Any, angle: float) -> Any:
    x = np.array(rng.normal(size=(4, 3)))
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], dtype="float64")
    axis = np.array([0.0, 0.6, 0.8], dtype="float64")
    rodrigues = x * c + np.cross(axis, x) * s + np.outer(x @ axis, axis) * (1 - c)
    return x @ turn.T, rodrigues, np.linalg.det(turn)
