"""The rig that `pliant bench` skins: a limb of 30 bones, four of them at every vertex, curled up."""

import numpy as np

BONES, INFLUENCES, RING = 30, 4, 64


def limb(vertices):
    """Rest positions, and dense weights."""
    number = np.arange(vertices)
    along = (number // RING) / (max(-(-vertices // RING), 2) - 1) * BONES
    angle = (number % RING) / RING * 2.0 * np.pi
    radius = 0.4 + 0.05 * np.sin(along * 3.0)
    positions = np.stack([along, radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    distance = np.abs(along[:, None] - np.arange(BONES) - 0.5) + 0.2
    near = np.argsort(distance, axis=1, kind="stable")[:, :INFLUENCES]
    weights = np.zeros((vertices, BONES))
    np.put_along_axis(weights, near, 1.0 / np.take_along_axis(distance, near, axis=1) ** 2, axis=1)
    return positions, weights / weights.sum(axis=1, keepdims=True)


def pose():
    """A skin matrix per bone, 4 x 4, and the quaternion (x, y, z, w) of its turn."""
    turn = np.array([np.sin(0.052), 0.0, np.sin(0.105), 1.0])
    turn /= np.linalg.norm(turn)
    local = np.eye(4)
    local[:3, :3] = matrix_of(turn)
    world, quaternion = np.eye(4), np.array([0.0, 0.0, 0.0, 1.0])
    matrices, quaternions = [], []
    for bone in range(BONES):
        step = np.eye(4)
        step[0, 3] = 1.0 if bone else 0.0
        world = world @ step @ local
        quaternion = times(quaternion, turn)
        from_rest = np.eye(4)
        from_rest[0, 3] = -bone
        matrices.append(world @ from_rest)
        quaternions.append(quaternion)
    return np.array(matrices), np.array(quaternions)


def times(a, b):
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - a[:3] @ b[:3])


def matrix_of(q):
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def linear(positions, weights, matrices):
    """Linear blend skinning, plainly: what peers must give."""
    blended = np.einsum("vb,bij->vij", weights, matrices[:, :3])
    return np.einsum("vij,vj->vi", blended[:, :, :3], positions) + blended[:, :, 3]


def dual_quaternion(positions, weights, quaternions, translations):
    """Dual quaternion skinning, plainly. Neighbouring bones' quaternions are on one side here."""
    dual = 0.5 * np.array([times(np.append(t, 0.0), q) for q, t in zip(quaternions, translations)])
    real, dual = weights @ quaternions, weights @ dual
    length = np.linalg.norm(real, axis=1, keepdims=True)
    real, dual = real / length, dual / length
    v, w, dv, dw = real[:, :3], real[:, 3:], dual[:, :3], dual[:, 3:]
    turned = positions + 2.0 * np.cross(v, np.cross(v, positions) + w * positions)
    return turned + 2.0 * (w * dv - dw * v + np.cross(v, dv))


def best_of(work, clock, seconds):
    """Best seconds of some work, and what it gave."""
    result = work()
    best, end = float("inf"), clock() + seconds
    for run in range(1000000):
        start = clock()
        result = work()
        now = clock()
        best = min(best, now - start)
        if run >= 5 and now > end:
            return best, result


def check(found, expected, tolerance):
    """A result that is wrong is no result."""
    error = np.abs(found - expected).max() / np.ptp(expected, axis=0).max()
    if not error < tolerance:
        raise SystemExit(f"error: the peer's positions are off by {error:.2g} of the body")
