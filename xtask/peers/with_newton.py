"""with_newton.py REST BENT ORDER SECONDS: one bar by newton's XPBD on the CPU, which has one thread there.
with_newton.py --prepare: only has newton compile its kernels, which takes it a minute.

Its two constraints a tet (trace of the strain, volume) are solved all at once and added up, which blows up on these bars
with the usual relaxation of 0.9. So it gets the one of RELAXATIONS that leaves the least of its own constraints' error.
They are as good as rigid: nothing is gained by making them soft, for the time or for the error.
"""

import json
import sys
import time
from importlib.metadata import version

import newton
import numpy as np
import warp as wp
from bars import ITERATIONS, pinned, read_mesh, sorted_along, strain_residual_of

RELAXATIONS = [0.9, 0.3, 0.18, 0.16, 0.14, 0.12, 0.1]
RIGID = 1e12
TICK = 0.01
TIMES = 5  # Steps at least.


def own_error_of(rest, tets):
    def edges(x):
        return np.stack([x[tets[:, k]] - x[tets[:, 0]] for k in (1, 2, 3)], axis=2)

    inverse = np.linalg.inv(edges(rest))

    def error(x):
        f = edges(x) @ inverse
        found = np.abs(np.linalg.det(f) - 1.0).mean() + np.abs((f * f).sum(axis=(1, 2)) - 3.0).mean()
        return found if np.isfinite(found) else np.inf

    return error


def model_of(rest, free, held):
    """The bar's nodes and free tets."""
    builder = newton.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    # No radius: nothing touches.
    still, thin = [(0.0, 0.0, 0.0)] * len(rest), [0.0] * len(rest)
    builder.add_particles(pos=rest.tolist(), vel=still, mass=np.where(held, 0.0, 1.0).tolist(), radius=thin)
    for tet in free.tolist():
        builder.add_tetrahedron(*tet, k_mu=RIGID, k_lambda=RIGID)
    model = builder.finalize(device="cpu")
    model.particle_grid = None
    if model.tet_count != len(free):
        sys.exit("error: newton dropped tets")
    return model


def solver_of(model, relaxation):
    return newton.solvers.SolverXPBD(model, iterations=ITERATIONS["strain"], soft_body_relaxation=relaxation)


def prepare():
    corners = np.append(np.zeros((1, 3)), np.eye(3), axis=0)
    model = model_of(corners, np.array([[0, 1, 2, 3]]), np.zeros(4, dtype=bool))
    solver_of(model, 0.1).step(model.state(), model.state(), model.control(), None, TICK)


def main(rest_path, bent_path, order, seconds):
    (rest, tets), (bent, _) = read_mesh(rest_path), read_mesh(bent_path)
    if order == "morton":
        rest, bent, tets = sorted_along(rest, bent, tets)
    held = pinned(rest)
    free = tets[~held[tets].all(axis=1)]
    model = model_of(rest, free, held)
    start = wp.array(bent.astype(np.float32), dtype=wp.vec3, device="cpu")
    control, before, after = model.control(), model.state(), model.state()

    def step(solver):
        wp.copy(before.particle_q, start)
        before.particle_qd.zero_()
        at = time.process_time()
        solver.step(before, after, control, None, TICK)
        return time.process_time() - at

    own_error, residual = own_error_of(rest, free), strain_residual_of(rest, tets)
    tried = []
    for relaxation in RELAXATIONS:
        solver = solver_of(model, relaxation)
        step(solver)
        nodes = after.particle_q.numpy().astype(float)
        tried.append((own_error(nodes), relaxation, residual(nodes), solver))
    error, relaxation, left, solver = min(tried, key=lambda t: t[0])
    if not error < own_error(bent):
        sys.exit("error: newton diverges with every relaxation")
    best, end = float("inf"), time.perf_counter() + seconds
    for run in range(1000):
        best = min(best, step(solver))
        if run >= TIMES and time.perf_counter() > end:
            break
    answer = {"ms": best * 1e3, "residual": left, "before": residual(bent), "relaxation": relaxation}
    print("\n" + json.dumps({"version": version("newton"), **answer}), flush=True)


np.seterr(all="ignore")
if sys.argv[1:] == ["--prepare"]:
    prepare()
else:
    main(*sys.argv[1:4], float(sys.argv[4]))
