"""with_numpy.py VERTICES SECONDS: linear blend skinning by numpy's BLAS in f32, the faster of two ways to write it.

Either one product with a matrix of weights times rest positions, made beforehand (four columns a bone), or a matrix per
vertex, blended by a product and then applied.
"""

import json
import sys
import time

import numpy as np
from rig import best_of, check, limb, linear, pose


def main(vertices, seconds):
    positions, weights = limb(vertices)
    matrices, _ = pose()
    expected = linear(positions, weights, matrices)
    points = np.append(positions, np.ones((vertices, 1)), axis=1)
    ahead = (weights[:, :, None] * points[:, None, :]).reshape(vertices, -1).astype(np.float32)
    stacked = matrices[:, :3].transpose(0, 2, 1).reshape(-1, 3).astype(np.float32)
    out = np.empty((vertices, 3), dtype=np.float32)
    weights, points = weights.astype(np.float32), points.astype(np.float32)
    flat = matrices[:, :3].reshape(-1, 12).astype(np.float32)
    blended = np.empty((vertices, 12), dtype=np.float32)

    def one_product():
        return np.matmul(ahead, stacked, out=out)

    def blend_then_apply():
        np.matmul(weights, flat, out=blended)
        return np.matmul(blended.reshape(-1, 3, 4), points[:, :, None])[:, :, 0]

    found = {}
    for way in [one_product, blend_then_apply]:
        best, result = best_of(way, time.perf_counter, seconds / 2)
        check(result, expected, 1e-4)
        found[way.__name__] = best * 1e3
    way = min(found, key=found.get)
    print(json.dumps({"version": np.__version__, "lbs": found[way], "way": way}))


main(int(sys.argv[1]), float(sys.argv[2]))
