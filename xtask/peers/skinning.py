"""Pliant's skinnings beside those of numpy, libigl and Blender.

numpy and libigl skin the rig that `pliant bench` has for `lbs` and `dqs`: a limb of 30 bones, four at every vertex.
Blender's time is that of a whole frame of the sample armadillo (35 bones, four at every vertex): the pose, the armature
modifier, nothing drawn; and the same with the normals of vertices. Pliant's `lbs frame`, `smooth frame`, `volume` and
`metaballs` are frames of the same run from poses on, with normals and without. Both are means over the run of the best of
each frame. `lbs` and `dqs` are of the limb with as many vertices.
"""

import subprocess

from common import PEERS, PeerFailed, merge_all

SIZES = [8620, 24461, 34594, 200000]
SECONDS = 1.5  # Of a peer's frames; the best counts.

# Pliant's method and output, beside the peers' works that it is compared with.
BESIDE = [
    ("lbs", "positions", [("numpy", "lbs"), ("libigl", "lbs"), ("blender", "armature")]),
    ("dqs", "positions", [("libigl", "dqs"), ("blender", "preserve volume")]),
    ("volume", "lbs frame", [("blender", "armature, normals")]),
    ("smooth", "smooth frame", [("blender", "armature, normals")]),
    ("smooth", "smooth frame, positions", [("blender", "armature")]),
    ("volume", "volume", [("blender", "armature, normals")]),
    ("volume", "volume, positions", [("blender", "armature")]),
    ("volume", "volume+overlap", [("blender", "armature, normals")]),
    ("volume", "volume+overlap, positions", [("blender", "armature")]),
    ("metaballs", "metaballs", [("blender", "armature, normals")]),
    ("metaballs", "metaballs+overlap", [("blender", "armature, normals")]),
    ("metaballs", "metaballs+overlap, positions", [("blender", "armature")]),
]
METHODS = ["lbs", "dqs", "smooth", "volume", "metaballs"]
MOST = {"metaballs": 50000}  # Vertices: filling larger skins with balls takes longer than all the rest.


def armadillo(run, vertices):
    file = run.files / f"armadillo-{vertices}.glb"
    made = [run.pliant, "sample", "armadillo", "--vertices", str(vertices), "-q", "-o", str(file)]
    subprocess.run(made, check=True, capture_output=True)
    return file


def theirs(run, peer, vertices, threads):
    seconds = run.seconds(SECONDS)
    count = str(threads)
    if peer == "blender":
        answer = run.ask(peer, "with_blender.py", armadillo(run, vertices), threads, seconds)
        if answer["vertices"] != vertices:
            raise PeerFailed(f"has {answer['vertices']} vertices, not {vertices}")
        return answer
    environment = {name: count for name in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "IGL_NUM_THREADS"]}
    return run.ask(peer, f"with_{peer}.py", vertices, seconds, environment=environment)


def rows_of(run, vertices):
    ours = {}
    for method in [m for m in METHODS if vertices <= MOST.get(m, vertices)]:
        run.say(f"skinning: {vertices} vertices: Pliant, {method}")
        for (output, threads), row in run.bench(method, vertices, run.threads).items():
            ours[method, output, threads] = row
    answers = {}
    for peer in ["numpy", "libigl", "blender"]:
        for threads in run.threads:
            run.say(f"skinning: {vertices} vertices: {PEERS[peer]['shown']}, threads: {threads}")
            try:
                answers[peer, threads] = theirs(run, peer, vertices, threads)
            except PeerFailed as why:
                run.leave_out(peer, why, f"{vertices} vertices, threads: {threads}")
    for method in ["lbs", "dqs"]:
        again = run.bench(method, vertices, run.threads)
        merge_all(ours, {(method, output, threads): row for (output, threads), row in again.items()})
    rows = []
    for method, output, peers in BESIDE:
        for threads in run.threads:
            mine = ours.get((method, output, threads))
            if not mine:
                continue
            own = {
                "method": method,
                "output": output,
                "size": vertices,
                "threads": threads,
                "our_ms": mine["ms"],
                "our_state_hash": mine["state_hash"],
                "our_path": mine["path"],
            }
            rows.append({"peer": None, "work": method, **own})
            for peer, work in peers:
                answer = answers.get((peer, threads), {})
                if work in answer:
                    shown = PEERS[peer]["shown"]
                    found = {"peer": shown, "version": run.versions[shown], "work": work, **own}
                    rows.append(found | {"ms": answer[work], "ratio": answer[work] / mine["ms"]})
    return rows


def measure(run):
    return [row for size in run.sizes(SIZES) for row in rows_of(run, size)]
