"""Pliant's skinnings beside Blender's armature: the same character and clip, the same machine, the same run.

peers_skin.py PLIANT OUT

Blender's time is that of a whole frame with all cores: the pose, the armature modifier, nothing drawn. Pliant's is what
`pliant bench` gives for as many vertices, bones and influences.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import bpy

VERTICES = [8620, 34594]
SECONDS = 4.0  # Spent on each of Blender's rows; the best frame counts.
METHODS = ["lbs", "dqs", "smooth", "volume", "metaballs"]


def blender(file, preserve_volume):
    """Best milliseconds of a frame, and the vertices that moved."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(file), merge_vertices=False)
    skins = [o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers)]
    for skin in skins:
        for modifier in skin.modifiers:
            if modifier.type == "ARMATURE":
                modifier.use_deform_preserve_volume = preserve_volume
    scene = bpy.context.scene
    scene.render.fps = 30
    graph = bpy.context.evaluated_depsgraph_get()
    action = next(iter(bpy.data.actions))
    first, last = (int(x) for x in action.frame_range)
    best, frame, started = float("inf"), first, time.perf_counter()
    seen = set()
    while time.perf_counter() - started < SECONDS:
        frame = first if frame >= last else frame + 1
        at = time.perf_counter()
        scene.frame_set(frame)
        graph.update()
        meshes = [skin.evaluated_get(graph).data for skin in skins]
        count = sum(len(mesh.vertices) for mesh in meshes)
        best = min(best, time.perf_counter() - at)
        seen.add(tuple(round(x, 6) for x in meshes[0].vertices[len(meshes[0].vertices) // 2].co))
    # A frame that moves nothing is no frame.
    assert len(seen) > 3, "Blender's character does not move"
    return best * 1e3, count


def pliant(command, method, vertices, threads):
    args = [command, "bench", "--method", method, "--sizes", str(vertices), "--threads", str(threads), "--json"]
    rows = json.loads(subprocess.run(args, check=True, capture_output=True, text=True).stdout)
    return {row["output"]: row["ms"] for row in rows}


def main():
    command, out = sys.argv[1], Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    if os.getloadavg()[0] > 0.5:
        print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores: this machine is busy, and figures mean little.")
    print(f"{'vertices':>8} {'method':8} {'output':20} {'ms':>8}   Blender: armature ms, ratio; preserving volume ms, ratio")
    for vertices in VERTICES:
        file = out / f"armadillo-{vertices}.glb"
        subprocess.run([command, "sample", "armadillo", "--vertices", str(vertices), "-q", "-o", str(file)], check=True)
        (plain, count), (preserving, _) = blender(file, False), blender(file, True)
        assert count == vertices, f"Blender has {count} vertices"
        for method in METHODS:
            for output, ms in pliant(command, method, vertices, os.cpu_count() or 1).items():
                ratios = f"{plain:8.3f} {plain / ms:6.1f}  {preserving:8.3f} {preserving / ms:6.1f}"
                print(f"{vertices:8} {method:8} {output:20} {ms:8.4f}   {ratios}", flush=True)


main()
