"""with_libigl.py VERTICES SECONDS: libigl's skinnings, in f64 as its Python module has them.

Linear blending is libigl's matrix, made beforehand, times the transforms; dual quaternions are its `dqs`.
"""

import json
import sys
import time
from importlib.metadata import version

import igl
import numpy as np
from rig import best_of, check, dual_quaternion, limb, linear, pose


def main(vertices, seconds):
    positions, weights = limb(vertices)
    matrices, quaternions = pose()
    translations = np.ascontiguousarray(matrices[:, :3, 3])
    ahead = igl.lbs_matrix(positions, weights)
    stacked = np.ascontiguousarray(matrices[:, :3].transpose(0, 2, 1).reshape(-1, 3))
    found = {"version": version("libigl")}
    best, result = best_of(lambda: ahead @ stacked, time.perf_counter, seconds)
    check(result, linear(positions, weights, matrices), 1e-9)
    found["lbs"] = best * 1e3
    if hasattr(igl, "dqs"):
        best, result = best_of(
            lambda: igl.dqs(positions, weights, quaternions, translations), time.perf_counter, seconds
        )
        check(result, dual_quaternion(positions, weights, quaternions, translations), 1e-6)
        found["dqs"] = best * 1e3
    print(json.dumps(found))


main(int(sys.argv[1]), float(sys.argv[2]))
