"""Pliant's solvers beside pyPBD's and newton's: the same bars, bent and twisted alike, the same machine, the same run.

`position`: pyPBD and Pliant project stretch and volume, 12 iterations from the same bent nodes, all of one mass; Pliant
also binds every node to the bar's axis. Stiffness per iteration is the same. pyPBD's volume gradient lacks a factor of
1/6, so its volumes give way more and its residual (mean relative error of all edges and tets) is another one after as
many iterations: hence the rows at equal residual, in which Pliant goes on, without binds, until its residual is no larger.
`strain`: stretch and shear of every tet, 10 iterations with a bone pinned along the bar's axis; Pliant also projects
volume, which pyPBD's strain constraints have not got, but goes without at equal residual. newton has a constraint for all
stretches together and one for volume: beside it Pliant has all seven in both. The residual is the mean error of all seven.
From MORTON tets on, peers also run with nodes and constraints sorted along a Morton curve, and the faster counts.
"""

import functools
import math

from common import PEERS, PeerFailed, merge_all

SIZES = [5000, 14000, 25000, 90000]
ITERATIONS = {"position": 12, "strain": 10}
MOST_ITERATIONS = 400
MORTON = 25000
SECONDS = 1.5  # Of steps of a peer, at least ten; the best counts.

# Peer, the threads it can be given (None: one, always), and what makes Pliant's constraints like its own.
AGAINST = {
    "position": [("pypbd", True, ["--no-bind"])],
    "strain": [("pypbd", True, ["--no-volume"]), ("newton", False, [])],
}


def theirs(run, peer, method, bar, tets, threads):
    """The faster order."""
    files = [f"{bar}-rest.mesh", f"{bar}-bent.mesh"]
    found = []
    for order in ["given", "morton"] if tets >= MORTON else ["given"]:
        tail = [*files, order, run.seconds(SECONDS)]
        if peer == "pypbd":
            environment = {"OMP_NUM_THREADS": str(threads)}
            found.append(run.ask(peer, "with_pypbd.py", method, *tail, environment=environment))
        else:
            found.append(run.ask(peer, "with_newton.py", *tail))
    return min(found, key=lambda f: f["ms"])


def fewest(residual_after, goal, first):
    """The fewest iterations after which the residual is no larger, looked for from a guess on; None where
    MOST_ITERATIONS are too few."""
    low, high = 0, first
    while residual_after(high) > goal:
        if high >= MOST_ITERATIONS:
            return None
        low, high = high, min(high * 2 if low else high + max(high // 4, 1), MOST_ITERATIONS)
    if low == 0 and high > 2:
        below = high - max(high // 5, 1)
        low, high = (0, below) if residual_after(below) <= goal else (below, high)
    guess = True
    while high - low > 1:
        middle = (low + high) // 2
        if guess and low > 0:
            # Residuals fall about like a power of the iterations.
            a, b = residual_after(low), residual_after(high)
            share = math.log(a / goal) / math.log(a / b) if a > b else 0.5
            middle = math.ceil(low * (high / low) ** share)
        middle, guess = min(max(middle, low + 1), high - 1), not guess
        low, high = (low, middle) if residual_after(middle) <= goal else (middle, high)
    return high


def rows_of(run, method, size, guesses):
    """What one bar gives. How many iterations were enough for the last one is a guess for this one."""
    iterations = ITERATIONS[method]
    run.say(f"solver: {method}, {size} tets: Pliant")
    usual = ["--iterations", iterations]
    ours = run.bench(method, size, run.threads, *usual, "--save", run.files)
    tets = ours["bar", 1]["tets"]
    bar = run.files / f"bar-{tets}"
    found = []
    for peer, has_threads, alike in AGAINST[method]:
        shown = PEERS[peer]["shown"]
        answers = {}
        try:
            for threads in run.threads if has_threads else [1]:
                run.say(f"solver: {method}, {size} tets: {shown}, threads: {threads}")
                answers[threads] = theirs(run, peer, method, bar, tets, threads)
        except PeerFailed as why:
            run.leave_out(peer, why, f"{method}, {tets} tets")
            if not answers:
                continue
        goal = min(answer["residual"] for answer in answers.values())
        run.say(f"solver: {method}, {size} tets: Pliant to {shown}'s residual, {goal:.5f}")

        @functools.cache
        def residual_after(count, alike=tuple(alike)):
            return run.bench(method, size, [1], "--iterations", count, *alike)["bar", 1]["residual"]

        enough = fewest(residual_after, goal, guesses.get(peer) or iterations)
        guesses[peer] = enough
        found.append((peer, answers, alike, enough))
    run.say(f"solver: {method}, {size} tets: Pliant again")
    ours = merge_all(ours, run.bench(method, size, run.threads, *usual))
    rows = []
    for peer, answers, alike, enough in found:
        equal = run.bench(method, size, run.threads, "--iterations", enough, *alike) if enough else None
        for threads, answer in answers.items():
            for at, our in [("iterations", ours), ("residual", equal)]:
                row = {
                    "peer": PEERS[peer]["shown"],
                    "version": run.versions[PEERS[peer]["shown"]],
                    "work": method,
                    "equal": at,
                    "size": tets,
                    "threads": threads,
                    "iterations": iterations,
                    "ms": answer["ms"],
                    "residual_before": answer["before"],
                    "residual": answer["residual"],
                }
                if "relaxation" in answer:
                    row["relaxation"] = answer["relaxation"]
                if our:
                    mine = our["bar", threads]
                    row |= {
                        "our_iterations": mine["iterations"],
                        "our_ms": mine["ms"],
                        "our_residual": mine["residual"],
                        "our_state_hash": mine["state_hash"],
                        "our_path": mine["path"],
                        "ratio": answer["ms"] / mine["ms"],
                    }
                else:
                    row["note"] = f"Pliant's residual is larger after {MOST_ITERATIONS} iterations"
                rows.append(row)
    for (output, threads), mine in sorted(ours.items()):
        rows.append(
            {
                "peer": None,
                "work": method,
                "output": output,
                "equal": "iterations",
                "size": tets,
                "threads": threads,
                "our_iterations": iterations,
                "our_ms": mine["ms"],
                "our_residual": mine["residual"],
                "our_state_hash": mine["state_hash"],
                "our_path": mine["path"],
            }
        )
    return rows


def measure(run):
    rows = []
    for method in ITERATIONS:
        guesses = {}
        for size in run.sizes(SIZES):
            rows += rows_of(run, method, size, guesses)
    return rows
