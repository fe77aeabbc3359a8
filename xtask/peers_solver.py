"""Pliant's solver beside pyPBD's: the same bars, bent and twisted alike, the same machine, the same run.

peers_solver.py PLIANT OUT                       the tables; bars are written to OUT
peers_solver.py --pypbd METHOD REST BENT ORDER   one bar by pyPBD, in a process of its own: OpenMP takes its threads
                                                 from there

`position`: both project stretch and volume, 12 iterations from the same bent nodes, all of one mass; Pliant also binds every node to
the bar's axis. Stiffness per iteration is the same. pyPBD's volume gradient lacks a factor of 1/6, so its volumes give
way more and its residual (mean relative error of all edges and tets) is another one after as many iterations: hence the
second half of the table, in which Pliant goes on, without binds, until its residual is no larger than pyPBD's.
`strain`: both project stretch and shear of every tet, 10 iterations with a bone pinned along the bar's axis; Pliant also
projects volume, which pyPBD's strain constraints have not got, but in the second half of the table goes without. The
residual is the mean error of all seven constraints.
pyPBD is double precision and is given bodies ten units large, since it drops tets whose gradients are below an absolute
1e-6. From MORTON tets on it also runs with nodes and constraints sorted along a Morton curve, and the faster counts. On
one thread its time is the processor's, so that other work on the machine does not count against it; Pliant's is the
clock's.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SIZES = [5000, 14000, 90000]
THREADS = [1, 2]
ITERATIONS = {"position": 12, "strain": 10}
MOST_ITERATIONS = 400
STRETCH = {"position": 1.0 - (1.0 - 0.6) ** (1.0 / 12), "strain": 1.0 - (1.0 - 0.4) ** (1.0 / 10)}
SHEAR = 1.0 - (1.0 - 0.18) ** (1.0 / 10)
VOLUME = 1.0
BONE = 0.17  # Half the thickness of the pinned bone; the bar's sides are 1.
MORTON = 25000
UNITS = 10.0
TIMES = 10  # How many steps of pyPBD are measured at least, and for how long; the best counts.
SECONDS = 3.0
RUNS = 5  # Of Pliant: as long, all in all.
PAIRS = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def read_mesh(path):
    """Nodes and tets of a Medit file."""
    words = Path(path).read_text().split()
    found, at = {}, 0
    for name, width in [("Vertices", 4), ("Tetrahedra", 5)]:
        at = words.index(name, at) + 2
        rows = int(words[at - 1])
        found[name] = np.array(words[at : at + rows * width], dtype=float).reshape(rows, width)[:, :-1]
    return found["Vertices"], found["Tetrahedra"].astype(int) - 1


def edges_of(tets):
    return np.unique(np.sort(tets[:, PAIRS].reshape(-1, 2), axis=1), axis=0)


def residual_of(rest, tets, edges):
    """Tells the mean relative error of all edges and tets."""

    def measures(x):
        a, b, c, d = (x[tets[:, k]] for k in range(4))
        volumes = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0
        return np.concatenate([np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1), volumes])

    at_rest = measures(rest)
    return lambda x: float(np.mean(np.abs(measures(x) / at_rest - 1.0)))


def strain_residual_of(rest, tets):
    """Tells the mean error of the stretches, shears and volumes of tets that are not pinned as a whole."""
    tets = tets[~pinned(rest)[tets].all(axis=1)]

    def edges(x):
        return np.stack([x[tets[:, k]] - x[tets[:, 0]] for k in (1, 2, 3)], axis=2)

    inverse = np.linalg.inv(edges(rest))

    def residual(x):
        f = edges(x) @ inverse
        s = f.transpose(0, 2, 1) @ f
        stretch = np.sqrt(s[:, [0, 1, 2], [0, 1, 2]]) - 1.0
        found = [stretch, s[:, [0, 0, 1], [1, 2, 2]], np.linalg.det(f)[:, None] - 1.0]
        return float(np.mean(np.abs(np.concatenate(found, axis=1))))

    return residual


def pinned(rest):
    """Which nodes are on the bone, however the bar is scaled: it is four times as long as thick."""
    return np.abs(rest[:, 1:]).max(axis=1) < BONE * np.ptp(rest[:, 0]) / 4.0


def morton(points):
    """The place of each point along a Morton curve."""
    low, high = points.min(axis=0), points.max(axis=0)
    cells = ((points - low) / (high - low).max() * 1023).astype(np.int64)
    code = np.zeros(len(points), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return code


def sorted_along(rest, bent, tets):
    """Nodes and tets along a Morton curve."""
    order = np.argsort(morton(rest), kind="stable")
    new = np.empty_like(order)
    new[order] = np.arange(len(order))
    rest, bent, tets = rest[order], bent[order], new[tets]
    return rest, bent, tets[np.argsort(morton(rest[tets].mean(axis=1)), kind="stable")]


def pypbd(method, rest_path, bent_path, order):
    import pypbd as pbd

    clock = time.process_time if os.environ["OMP_NUM_THREADS"] == "1" else time.perf_counter
    (rest, tets), (bent, _) = read_mesh(rest_path), read_mesh(bent_path)
    scale = UNITS / np.ptp(rest, axis=0).max()
    rest, bent = rest * scale, bent * scale
    if order == "morton":
        rest, bent, tets = sorted_along(rest, bent, tets)
    simulation = pbd.Simulation.getCurrent()
    simulation.initDefault()
    model, step = simulation.getModel(), simulation.getTimeStep()
    particles = model.getParticles()
    for point in rest:
        particles.addVertex(point)
    if method == "position":
        edges = edges_of(tets)
        if order == "morton":
            edges = edges[np.argsort(morton(rest[edges].mean(axis=1)), kind="stable")]
        for a, b in edges.tolist():
            model.addDistanceConstraint(a, b, STRETCH[method])
        for tet in tets.tolist():
            model.addVolumeConstraint(*tet, VOLUME)
        expected, residual = len(edges) + len(tets), residual_of(rest, tets, edges)
    else:
        held = pinned(rest)
        for node in np.flatnonzero(held).tolist():
            particles.setMass(node, 0.0)
        free = tets[~held[tets].all(axis=1)]
        for tet in free.tolist():
            # Stretch as a length, shear not over lengths: as ours.
            model.addStrainTetConstraint(*tet, STRETCH[method], SHEAR, True, False)
        expected, residual = len(free), strain_residual_of(rest, tets)
    if len(model.getConstraints()) != expected:
        sys.exit("pyPBD dropped constraints")
    for node, point in enumerate(bent):
        particles.setPosition0(node, point)
    step.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, 1)
    step.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, ITERATIONS[method])
    step.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS_V, 0)
    best, end = float("inf"), time.perf_counter() + SECONDS
    # The first step also colours the constraints.
    for run in range(1000):
        model.reset()
        start = clock()
        step.step(model)
        if run > 0:
            best = min(best, clock() - start)
        if run >= TIMES and time.perf_counter() > end:
            break
    nodes = np.array(particles.getVertices(), copy=False)
    print(json.dumps({"ms": best * 1e3, "residual": residual(nodes)}))


def theirs(method, rest, bent, tets, threads):
    """The faster order."""
    found = []
    for order in ["given", "morton"] if tets >= MORTON else ["given"]:
        command = [sys.executable, str(Path(__file__).resolve()), "--pypbd", method, str(rest), str(bent), order]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if run.returncode != 0:
            sys.exit(f"pyPBD failed: {(run.stderr.splitlines() or ['no reason given'])[-1]}")
        found.append(json.loads(run.stdout.splitlines()[-1]))
    return min(found, key=lambda run: run["ms"])


def ours(pliant, method, size, threads, iterations, *more, runs=1):
    """The best of some runs, each of which gives the best of 0.4 seconds."""
    command = [pliant, "bench", "--method", method, "--sizes", str(size), "--json"]
    command += ["--threads", str(threads), "--iterations", str(iterations), *more]
    found = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout)[0] for _ in range(runs)]
    return min(found, key=lambda run: run["ms"])


def to_residual(pliant, method, size, threads, goal):
    """The fewest iterations after which Pliant's residual is no larger; None where MOST_ITERATIONS are too few."""
    alike = {"position": "--no-bind", "strain": "--no-volume"}[method]

    def is_enough(iterations):
        return ours(pliant, method, size, threads, iterations, alike)["residual"] <= goal

    low, high = 0, ITERATIONS[method]
    while not is_enough(high):
        low, high = high, high * 2
        if high > MOST_ITERATIONS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return ours(pliant, method, size, threads, high, alike, runs=RUNS)


def table(pliant, method, out):
    iterations = ITERATIONS[method]
    print(
        f"{method:14} | {f'Pliant, {iterations} iterations':>26} | {f'pyPBD, {iterations}':>19} |        |"
        f" {'Pliant, to that residual':>24} |\n"
        f"{'tets':>6} {'threads':>7} | {'ms':>8} {'residual':>9} {'path':>7} | {'ms':>9} {'residual':>9} | {'ratio':>6} |"
        f" {'iterations':>14} {'ms':>9} | {'ratio':>6}",
        flush=True,
    )
    for size in SIZES:
        for threads in THREADS:
            our = ours(pliant, method, size, threads, iterations, "--save", str(out), runs=RUNS)
            rest, bent = (out / f"bar-{our['tets']}-{name}.mesh" for name in ["rest", "bent"])
            their = theirs(method, rest, bent, our["tets"], threads)
            equal = to_residual(pliant, method, size, threads, their["residual"])
            row = f"{our['tets']:6} {threads:7} | {our['ms']:8.3f} {our['residual']:9.5f} {our['path']:>7} |"
            row += f" {their['ms']:9.2f} {their['residual']:9.5f} | {their['ms'] / our['ms']:6.1f} |"
            if equal:
                row += f" {equal['iterations']:14} {equal['ms']:9.3f} | {their['ms'] / equal['ms']:6.1f}"
            else:
                row += f" {f'over {MOST_ITERATIONS}':>14} {'':9} |"
            print(row, flush=True)


def main(pliant, out):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    load, cores = os.getloadavg()[0], os.cpu_count()
    if load > 0.2 * cores:
        print(f"Load {load:.1f} on {cores} cores: this machine is busy, and figures of several threads mean little.")
    for method in ITERATIONS:
        table(pliant, method, out)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--pypbd"]:
        pypbd(*sys.argv[2:6])
    else:
        main(*sys.argv[1:3])
