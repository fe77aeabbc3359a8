"""Pliant's bodies beside fTetWild's: the same surfaces, the same machine, the same run.

fTetWild has its usual settings, which are all cores and its own choice of count. Pliant is asked for the count that
fTetWild gave, and has one core.
"""

import json
import subprocess
import time

from common import PEERS, PeerFailed, one_line

LIMIT = 60.0  # Seconds that fTetWild may take for one surface, and for all of them.
ALL = 120.0
TIMES = 3
USUAL = 8000  # Tets asked of Pliant where fTetWild gave none.

SAMPLES = ["octopus", "hand", "human"]
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


def surfaces(run):
    """Name and OBJ of each, written by Pliant so that both read the same file."""
    sources = {name: [f"sample:{name}"] for name in SAMPLES}
    if run.data:
        for name, words in REAL.items():
            sources[name] = [str(run.data / w) if (run.data / w).exists() else w for w in words]
    for name, words in sources.items():
        folder = run.files / f"surface-{name.replace(' ', '-')}"
        folder.mkdir(exist_ok=True)
        for old in folder.glob("*.obj"):
            old.unlink()
        command = [run.pliant, "bake", *words, "--rest", "-o", str(folder / "rest.obj"), "--quiet"]
        written = subprocess.run(command, capture_output=True, text=True)
        # One file a frame; the rest pose is the only one.
        made = sorted(folder.glob("*.obj"))
        if made:
            yield name, made[0]
        else:
            run.say(f"tets: {name}: no surface: {one_line(written.stderr)}")


def ours(run, path, target):
    """The best of several runs."""
    command = [run.pliant, "tets", str(path), "--target", str(target), "--threads", "1", "--json", "--quiet"]
    times = 1 if run.quick else TIMES
    runs = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(times)]
    return min(runs, key=lambda found: found["milliseconds"])


def measure(run):
    rows, left = [], ALL
    for name, path in surfaces(run):
        with path.open() as lines:
            vertices = sum(line.startswith("v ") for line in lines)
        run.say(f"tets: {name}, {vertices} vertices")
        shown, their = PEERS["ftetwild"]["shown"], None
        started = time.monotonic()
        try:
            if left < 10.0:
                raise PeerFailed(f"the {ALL:.0f} s of the group were over")
            their = run.ask("ftetwild", "with_ftetwild.py", path, limit=min(LIMIT, left))
        except PeerFailed as why:
            run.leave_out("ftetwild", why, name)
            # One surface that takes long says nothing of the next.
            run.given_up.pop("ftetwild", None)
        left -= time.monotonic() - started
        our = ours(run, path, their["tets"] if their else USUAL)
        row = {
            "peer": shown if their else None,
            "work": name,
            "size": vertices,
            "our_threads": 1,
            "our_tets": our["tets"],
            "our_ms": our["milliseconds"],
            "our_dihedral": [our["dihedral"]["min"], our["dihedral"]["max"]],
            "our_state_hash": our.get("state_hash"),
        }
        if their:
            row |= {"version": run.versions[shown], "threads": "all", **their}
            row["ratio"] = their["ms"] / our["milliseconds"]
        rows.append(row)
    return rows
