"""Pliant alone: what a frame costs as bodies and skins grow."""

TETS = [1000, 3000, 10000, 30000, 100000, 300000, 1000000]
GOAL = 250000  # Tets that are to be solved 60 times a second.
VERTICES = [1000, 3000, 10000, 30000, 100000, 200000]  # The largest that a sample can have.

# Method, and the output of `pliant bench` that is its whole frame.
BODIES = [("position", "bar", TETS), ("strain", "bar", sorted([*TETS, GOAL]))]
SKINS = [
    ("lbs", "positions+normals", VERTICES),
    ("dqs", "positions+normals", VERTICES),
    ("smooth", "bulge+normals", VERTICES),
    ("volume", "volume+overlap", VERTICES),
    ("metaballs", "metaballs+overlap", VERTICES),
]


def measure(run):
    works = [(method, output, s) for method, output, sizes in BODIES + SKINS for s in run.sizes(sizes)]
    threads = run.threads[-1]
    rows = []
    for method, output, size in works:
        run.say(f"scaling: {method}, {size}")
        try:
            found = run.bench(method, size, [threads])
        except RuntimeError as why:
            run.left_out[f"Pliant, {method}, {size}"] = str(why)
            continue
        row = found[output, threads]
        rows.append(
            {
                "peer": None,
                "work": method,
                "output": output,
                "of": "tets" if row["tets"] else "vertices",
                "size": row["tets"] or row["vertices"],
                "threads": threads,
                "our_iterations": row["iterations"],
                "our_ms": row["ms"],
                "our_residual": row["residual"],
                "our_state_hash": row["state_hash"],
                "our_path": row["path"],
            }
        )
    return rows
