"""with_pypbd.py METHOD REST BENT ORDER SECONDS: one bar by pyPBD; OpenMP takes its threads from the environment."""

import json
import os
import sys
import time
from importlib.metadata import version

import numpy as np
import pypbd as pbd
from bars import (
    ITERATIONS,
    SHEAR,
    STRETCH,
    VOLUME,
    edges_of,
    morton,
    pinned,
    read_mesh,
    residual_of,
    sorted_along,
    strain_residual_of,
)

UNITS = 10.0  # It drops tets whose gradients are below an absolute 1e-6, so bodies are this large.
TIMES = 10  # Steps at least.


def main(method, rest_path, bent_path, order, seconds):
    # On one thread the processor's time, so that other work on the machine does not count against it.
    clock = time.process_time if os.environ["OMP_NUM_THREADS"] == "1" else time.perf_counter
    (rest, tets), (bent, _) = read_mesh(rest_path), read_mesh(bent_path)
    scale = UNITS / np.ptp(rest, axis=0).max()
    rest, bent = rest * scale, bent * scale
    if order == "morton":
        rest, bent, tets = sorted_along(rest, bent, tets)
    simulation = pbd.Simulation.getCurrent()
    simulation.initDefault()
    model, step = simulation.getModel(), simulation.getTimeStep()
    particles = model.getParticles()
    for point in rest:
        particles.addVertex(point)
    if method == "position":
        edges = edges_of(tets)
        if order == "morton":
            edges = edges[np.argsort(morton(rest[edges].mean(axis=1)), kind="stable")]
        for a, b in edges.tolist():
            model.addDistanceConstraint(a, b, STRETCH[method])
        for tet in tets.tolist():
            model.addVolumeConstraint(*tet, VOLUME)
        expected, residual = len(edges) + len(tets), residual_of(rest, tets, edges)
    else:
        held = pinned(rest)
        for node in np.flatnonzero(held).tolist():
            particles.setMass(node, 0.0)
        free = tets[~held[tets].all(axis=1)]
        for tet in free.tolist():
            # Stretch as a length, shear not over lengths: as ours.
            model.addStrainTetConstraint(*tet, STRETCH[method], SHEAR, True, False)
        expected, residual = len(free), strain_residual_of(rest, tets)
    if len(model.getConstraints()) != expected:
        sys.exit("error: pyPBD dropped constraints")
    for node, point in enumerate(bent):
        particles.setPosition0(node, point)
    step.setValueUInt(pbd.TimeStepController.NUM_SUB_STEPS, 1)
    step.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS, ITERATIONS[method])
    step.setValueUInt(pbd.TimeStepController.MAX_ITERATIONS_V, 0)
    best, end = float("inf"), time.perf_counter() + seconds
    # The first step also colours the constraints.
    for run in range(1000):
        model.reset()
        start = clock()
        step.step(model)
        if run > 0:
            best = min(best, clock() - start)
        if run >= TIMES and time.perf_counter() > end:
            break
    nodes = np.array(particles.getVertices(), copy=False)
    answer = {"version": version("pypbd"), "ms": best * 1e3, "residual": residual(nodes), "before": residual(bent)}
    print(json.dumps(answer))


main(*sys.argv[1:5], float(sys.argv[5]))
