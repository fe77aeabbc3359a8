"""The bars that solvers are measured with, as Pliant writes them, and how far from solved they are."""

from pathlib import Path

import numpy as np

ITERATIONS = {"position": 12, "strain": 10}
STRETCH = {"position": 1.0 - (1.0 - 0.6) ** (1.0 / 12), "strain": 1.0 - (1.0 - 0.4) ** (1.0 / 10)}
SHEAR = 1.0 - (1.0 - 0.18) ** (1.0 / 10)
VOLUME = 1.0
BONE = 0.17  # Half the thickness of the pinned bone; the bar's sides are 1.
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
