"""with_ftetwild.py OBJ: the tets of one surface by fTetWild with its usual settings: all cores, its own choice of count."""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytetwild

LONG = 3.0  # Seconds from which once is enough.
TIMES = 3


def read_obj(path):
    points, triangles = [], []
    for line in Path(path).read_text().splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            points.append([float(x) for x in rest[:3]])
        elif word == "f":
            corners = [int(corner.split("/")[0]) - 1 for corner in rest]
            triangles += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return np.array(points), np.array(triangles, dtype=np.int32)


def dihedral_range(points, tets):
    """Smallest and largest angle between two faces, in degrees."""
    corners = points[tets]
    normals = []
    for skip in range(4):
        a, b, c = (corners[:, k] for k in range(4) if k != skip)
        normal = np.cross(b - a, c - a)
        # Outwards: away from the corner that the face lacks.
        normal *= np.where(np.sum(normal * (corners[:, skip] - a), axis=1) > 0, -1.0, 1.0)[:, None]
        normals.append(normal / np.linalg.norm(normal, axis=1)[:, None])
    cosines = [-np.sum(normals[i] * normals[j], axis=1) for i in range(4) for j in range(i)]
    angles = np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0)))
    return float(angles.min()), float(angles.max())


def main(path):
    points, triangles = read_obj(path)
    seconds = float("inf")
    for _ in range(TIMES):
        start = time.perf_counter()
        nodes, tets = pytetwild.tetrahedralize(points, triangles)
        seconds = min(seconds, time.perf_counter() - start)
        if seconds > LONG:
            break
    answer = {"version": version("pytetwild"), "tets": len(tets), "ms": seconds * 1e3}
    print("\n" + json.dumps(answer | {"dihedral": dihedral_range(nodes, tets)}), flush=True)


main(sys.argv[1])
