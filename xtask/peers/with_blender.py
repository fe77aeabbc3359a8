"""with_blender.py GLB THREADS SECONDS: a whole frame of a character in Blender: the pose, the armature, nothing drawn."""

import json
import os
import sys
import time

# Blender takes as many threads as the cores it may use, and looks when it starts.
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[2])])
elif int(sys.argv[2]) != os.cpu_count():
    sys.exit("error: threads cannot be chosen on this system")

import bpy  # noqa: E402


def frames(scene, graph, skins, seconds, normals):
    """Mean over the frames of the best milliseconds of each, and the vertices that moved."""
    first, last = (int(x) for x in next(iter(bpy.data.actions)).frame_range)
    best, frame, end, seen = {}, first, time.perf_counter() + seconds, set()
    while len(seen) < 4 or time.perf_counter() < end:
        frame = first if frame >= last else frame + 1
        at = time.perf_counter()
        scene.frame_set(frame)
        graph.update()
        meshes = [skin.evaluated_get(graph).data for skin in skins]
        count = sum(len(mesh.vertices) for mesh in meshes)
        if normals:
            # All are found where one is asked for.
            [mesh.vertex_normals[0].vector for mesh in meshes]
        best[frame] = min(best.get(frame, float("inf")), time.perf_counter() - at)
        seen.add(tuple(round(x, 6) for x in meshes[0].vertices[len(meshes[0].vertices) // 2].co))
        # A frame that moves nothing is no frame.
        if len(seen) < 4 and time.perf_counter() > end + 30.0:
            sys.exit("error: Blender's character does not move")
    return sum(best.values()) / len(best) * 1e3, count


def main(file, seconds):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=file, merge_vertices=False)
    skins = [o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers)]
    scene = bpy.context.scene
    scene.render.fps = 30
    answer = {"version": bpy.app.version_string}
    works = [("armature", False, False), ("preserve volume", True, False), ("armature, normals", False, True)]
    for work, preserve, normals in works:
        for modifier in [m for skin in skins for m in skin.modifiers if m.type == "ARMATURE"]:
            modifier.use_deform_preserve_volume = preserve
        answer[work], answer["vertices"] = frames(
            scene, bpy.context.evaluated_depsgraph_get(), skins, seconds, normals
        )
    print("\n" + json.dumps(answer), flush=True)


main(sys.argv[1], float(sys.argv[3]))
