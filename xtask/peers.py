"""Pliant's bodies beside fTetWild's: the same surfaces, the same machine, the same run.

peers.py PLIANT OUT [DATA]     the table; DATA is a folder of real characters
peers.py --ftetwild OBJ        one surface by fTetWild, in a process of its own so that it can be stopped

fTetWild has its default settings, which are all cores and its own choice of count; it runs once if that takes more
than LONG seconds. Pliant is asked for the count that fTetWild gave, and has one core.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

LIMIT = 240.0  # Seconds that fTetWild may take.
LONG = 5.0  # Seconds from which once is enough.
TIMES = 3
USUAL = 8000  # Tets asked of Pliant where fTetWild gave none.

SAMPLES = ["human", "hand", "octopus"]
REAL = {
    "CesiumMan": ["gltf/CesiumMan.glb"],
    "MakeHuman base": [
        "obj/makehuman/base.obj",
        "--skeleton",
        "obj/makehuman/cmu_mb.mhskel",
        "--weights",
        "distance",
    ],
}


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


def ftetwild(path):
    import pytetwild

    points, triangles = read_obj(path)
    seconds = float("inf")
    for _ in range(TIMES):
        start = time.perf_counter()
        nodes, tets = pytetwild.tetrahedralize(points, triangles)
        seconds = min(seconds, time.perf_counter() - start)
        if seconds > LONG:
            break
    low, high = dihedral_range(nodes, tets)
    print(json.dumps({"tets": len(tets), "seconds": seconds, "low": low, "high": high}))


def theirs(path):
    """None where fTetWild took too long or failed, with why."""
    command = [sys.executable, str(Path(__file__).resolve()), "--ftetwild", str(path.resolve())]
    try:
        # fTetWild leaves a file where it runs.
        run = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"not done in {LIMIT:.0f} s"
    if run.returncode != 0:
        return None, f"failed: {(run.stderr.splitlines() or ['no reason given'])[-1]}"
    return json.loads(run.stdout.splitlines()[-1]), ""


def ours(pliant, path, target):
    """The best of several runs."""
    command = [pliant, "tets", str(path), "--target", str(target), "--threads", "1", "--json", "--quiet"]
    runs = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(TIMES)]
    return min(runs, key=lambda run: run["milliseconds"])


def surfaces(pliant, out, data):
    """Name and OBJ of each, written by Pliant so that both read the same file."""
    sources = {name: [f"sample:{name}"] for name in SAMPLES}
    if data:
        for name, words in REAL.items():
            sources[name] = [w if not (data / w).exists() else str(data / w) for w in words]
    for name, words in sources.items():
        path = out / f"{name.replace(' ', '-')}.obj"
        command = [pliant, "bake", *words, "--rest", "-o", str(path), "--quiet"]
        written = subprocess.run(command, capture_output=True, text=True)
        if written.returncode == 0:
            # One file a frame; the rest pose is the only one.
            yield name, max(out.glob(f"{path.stem}*.obj"), key=lambda p: p.stat().st_mtime)
        else:
            print(f"{name}: no surface: {written.stderr.strip()}", flush=True)


def main(pliant, out, data=None):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    print(
        f"{'name':15} {'vertices':>8} | {'Pliant tets':>11} {'ms':>7} {'dihedral':>13} |"
        f" {'fTetWild tets':>13} {'s':>7} {'dihedral':>13} | {'ratio':>7}"
    )
    for name, path in surfaces(pliant, out, Path(data) if data else None):
        vertices = len(read_obj(path)[0])
        their, why = theirs(path)
        our = ours(pliant, path, their["tets"] if their else USUAL)
        angles = our["dihedral"]
        row = f"{name:15} {vertices:8} | {our['tets']:11} {our['milliseconds']:7.0f} {angles['min']:5.1f}..{angles['max']:5.1f}  |"
        if their:
            ratio = their["seconds"] * 1e3 / our["milliseconds"]
            row += f" {their['tets']:13} {their['seconds']:7.2f} {their['low']:5.1f}..{their['high']:5.1f}  | {ratio:7.1f}"
        else:
            row += f" {why} | > {LIMIT * 1e3 / our['milliseconds']:.0f}" if why.startswith("not") else f" {why} |"
        print(row, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ftetwild"]:
        ftetwild(sys.argv[2])
    else:
        main(*sys.argv[1:4])
