"""The page of results, from what the groups wrote: page.py FOLDER renders it anew, without measuring anything."""

import json
import math
import sys
from pathlib import Path

import chart

GROUPS = ["solver", "skinning", "tets", "scaling"]
BUSY = 0.15  # Cores that others take, from which figures mean little.
LINEAR = 1.1  # The largest exponent that is still called linear.
SIXTY = 1000.0 / 60.0
ONE = "one"  # A goal that is met on one thread, not by the best of peer and Pliant.

ABOUT = """# Pliant beside its peers

Made by `cargo xtask bench --peers`, which installs every peer from PyPI and measures it and Pliant in one run on the same
meshes; the raw figures are in the JSON files beside this page. Times are milliseconds, the best of many. A ratio is the
peer's time over Pliant's: above 1, Pliant is faster."""

SOLVER = """Bars of tets, bent and twisted. `position`: stretch and volume of both, Pliant also with binds. `strain`: stretch and
shear of both, Pliant also with volume, a bone pinned along the axis. After as many iterations of both, residuals differ (mean
relative errors of the constraints), so Pliant also goes on, or stops early, to the first iteration after which its residual is no larger
than the peer's; without binds and, beside pyPBD, without volume, which it has not got there. pyPBD is given bodies ten units large
and, where it helps, nodes in Morton order. newton solves two constraints a tet where the others solve six or seven, adds up all corrections of an iteration,
and diverges on these bars with its usual relaxation; it has the one that leaves the least error of its own constraints. It
runs on one thread."""

SKINNING = """numpy (one product of BLAS in f32) and libigl (f64, dense weights) skin the limb of 30 bones that `pliant bench` skins.
Blender's time is a whole frame of the armadillo sample with as many vertices: the pose, the armature modifier, nothing
drawn; one thread is one core it may use. Pliant's `lbs` and `dqs` are skin matrices to positions, of the limb; its frames are of the
same armadillo from its pose on. Frames are means over a run of the best of each, for repairs cost more in some poses than in
others. Blender's armature finds no normals, so Pliant's frames beside it have none either; beside those with unit normals at
vertices, Blender's are asked for as well."""

TETS = """fTetWild has its usual settings and all cores and chooses the count; Pliant is asked for as many and has one core."""


def ms(value):
    """Three digits that count."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.{max(2 - math.floor(math.log10(value)), 0)}f}" if value > 0 else "0"


def times(ratio):
    return f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"


def table(heads, rows, left=1):
    """Markdown; the first columns are words, the rest numbers."""
    ruler = ["---"] * left + ["---:"] * (len(heads) - left)
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [heads, ruler, *rows])


def pick(found, **wanted):
    return [row for row in found["rows"] if all(row.get(key) == value for key, value in wanted.items())]


def sized(found):
    return sorted({row["size"] for row in found["rows"]})


def threads_of(found):
    return sorted({row["threads"] for row in found["rows"]})


def is_doubtful(found):
    return found["quick"] or (found["cores_taken_by_others"] or 0.0) > BUSY


def when(found):
    """What this group's figures are of."""
    peers = ", ".join(f"{name} {version}" for name, version in found["peers"].items())
    text = f"{found['date']}, commit {found['commit']}{', beside ' + peers if peers else ''}, measured in {found['seconds']} s."
    if found["quick"]:
        text += " **A quick run, to try the scripts: these figures are not to be quoted.**"
    others = found["cores_taken_by_others"]
    if others is not None:
        text += f" Other work took {others:.2f} cores meanwhile."
        if others > BUSY:
            text += " **The machine was busy: these figures are not to be quoted.**"
    # One line a reason.
    reasons = {}
    for each in found["left_out"]:
        peer, _, work = each["peer"].partition(", ")
        reasons.setdefault((peer, each["why"]), []).append(work)
    for (peer, why), works in reasons.items():
        works = "; ".join(work for work in works if work)
        text += f"\n\nLeft out: {peer}{f' ({works})' if works else ''}: {why}."
    return text


def solver(found):
    parts = [SOLVER, when(found)]
    for work in ["position", "strain"]:
        rows = []
        for row in sorted(
            pick(found, work=work, equal="iterations"), key=lambda r: (r["size"], r["threads"], r["peer"] or "")
        ):
            if not row["peer"]:
                continue
            same = {key: row[key] for key in ["peer", "size", "threads"]}
            equal = pick(found, work=work, equal="residual", **same)[0]
            to = (
                [equal["our_iterations"], ms(equal["our_ms"]), times(equal["ratio"])]
                if "ratio" in equal
                else ["not reached", "", ""]
            )
            rows.append(
                [
                    row["peer"],
                    row["size"],
                    row["threads"],
                    ms(row["ms"]),
                    f"{row['residual']:.4f}",
                    ms(row["our_ms"]),
                    f"{row['our_residual']:.4f}",
                    times(row["ratio"]),
                    *to,
                ]
            )
        count = pick(found, work=work)[0]["our_iterations"]
        heads = ["peer", "tets", "threads", "peer ms", "its residual", "Pliant ms", "residual", "ratio"]
        heads += ["at its residual: iterations", "ms", "ratio"]
        parts += [f"### `{work}`, {count} iterations", table(heads, rows)]
    return parts


def beside(found, method, output, works):
    """A row per size and threads: Pliant's time, then each peer's with the ratio."""
    rows = []
    for size in sized(found):
        for threads in threads_of(found):
            which = {"method": method, "output": output, "size": size, "threads": threads}
            mine = pick(found, peer=None, **which)
            if not mine:
                continue
            cells = [size, threads, ms(mine[0]["our_ms"])]
            for peer, work in works:
                theirs = pick(found, peer=peer, work=work, **which)
                cells += [ms(theirs[0]["ms"]), times(theirs[0]["ratio"])] if theirs else ["-", "-"]
            rows.append(cells)
    heads = ["vertices", "threads", "Pliant ms"]
    for peer, _ in works:
        heads += [f"{peer} ms", "ratio"]
    return table(heads, rows, left=0)


# Blender's work, and what of Pliant's is compared with it.
FRAMES = {
    "armature": [
        ("smooth", "smooth frame, positions", "`smooth`, bulging"),
        ("volume", "volume, positions", "`volume`"),
        ("volume", "volume+overlap, positions", "with repair of overlaps"),
        ("metaballs", "metaballs+overlap, positions", "`metaballs`, with repair"),
    ],
    "armature, normals": [
        ("volume", "lbs frame", "`lbs`"),
        ("smooth", "smooth frame", "`smooth`, bulging"),
        ("volume", "volume", "`volume`"),
        ("volume", "volume+overlap", "with repair of overlaps"),
        ("metaballs", "metaballs", "`metaballs`"),
        ("metaballs", "metaballs+overlap", "with repair"),
    ],
}


def skinning(found):
    linear = [("numpy", "lbs"), ("libigl", "lbs"), ("Blender", "armature")]
    parts = [SKINNING, when(found), "### Linear blending (`lbs`)", beside(found, "lbs", "positions", linear)]
    dual = [("libigl", "dqs"), ("Blender", "preserve volume")]
    parts += ["### Dual quaternions (`dqs`)", beside(found, "dqs", "positions", dual)]
    for work, title in [("armature", "positions alone"), ("armature, normals", "with normals")]:
        rows = []
        for size in sized(found):
            for threads in threads_of(found):
                which = {"size": size, "threads": threads}
                armature = pick(found, peer="Blender", work=work, **which)
                cells = [size, threads, ms(armature[0]["ms"]) if armature else "-"]
                for method, output, _ in FRAMES[work]:
                    mine = pick(found, peer=None, method=method, output=output, **which)
                    cells.append(ms(mine[0]["our_ms"]) if mine else "-")
                    if mine and armature:
                        cells[-1] += f" ({times(armature[0]['ms'] / mine[0]['our_ms'])})"
                rows.append(cells)
        parts += [f"### Whole frames beside Blender's armature, {title}: ms (ratio)"]
        names = [name for _, _, name in FRAMES[work]]
        parts += [table(["vertices", "threads", "Blender ms", *names], rows, left=0)]
    return parts


def tets(found):
    rows = []
    for row in found["rows"]:
        angles = ["{:.1f} to {:.1f}".format(*row[key]) if key in row else "-" for key in ["dihedral", "our_dihedral"]]
        theirs = [row["tets"], ms(row["ms"]), angles[0]] if row["peer"] else ["-", "-", "-"]
        ratio = times(row["ratio"]) if row["peer"] else "-"
        rows.append([row["work"], row["size"], *theirs, row["our_tets"], ms(row["our_ms"]), angles[1], ratio])
    heads = [
        "surface",
        "vertices",
        "fTetWild tets",
        "ms",
        "dihedral angles",
        "Pliant tets",
        "ms",
        "dihedral angles",
        "ratio",
    ]
    return [TETS, when(found), table(heads, rows)]


def exponent(a, b):
    """Of the cost, between two measurements."""
    return math.log(b["our_ms"] / a["our_ms"]) / math.log(b["size"] / a["size"])


def curves(found):
    """Rows of each work by size, with all threads."""
    most = threads_of(found)[-1]
    works = list(dict.fromkeys(row["work"] for row in found["rows"]))
    return {work: sorted(pick(found, work=work, threads=most), key=lambda r: r["size"]) for work in works}


def scaling(found):
    by_work = curves(found)
    parts = [
        f"A frame of Pliant alone as bodies and skins grow, with {threads_of(found)[-1]} threads; the exponent is that of the cost"
        " between a size and the one before: 1 is linear.",
        when(found),
        "![Cost against size, log-log](scaling.svg)",
    ]
    for of, per in [("tets", "ms per 1k tets"), ("vertices", "ms per 1k vertices")]:
        works = [work for work, rows in by_work.items() if rows and rows[0]["of"] == of]
        rows = []
        for work in works:
            before = None
            for row in by_work[work]:
                cost = ms(row["our_ms"] / row["size"] * 1e3)
                rows.append(
                    [
                        f"`{work}`",
                        row["size"],
                        ms(row["our_ms"]),
                        cost,
                        f"{exponent(before, row):.2f}" if before else "",
                    ]
                )
                before = row
        parts.append(table(["method", of, "ms", per, "exponent"], rows))
        lines = []
        for work in works:
            large = [row for row in by_work[work] if row["size"] >= 9000]
            if len(large) > 1:
                a, b = large[0], large[-1]
                lines.append(
                    f"`{work}` {exponent(a, b):.2f} from {chart.short(round(a['size'], -3))} to {chart.short(round(b['size'], -3))}"
                )
        if lines:
            parts.append(f"Exponents over the whole upper range: {'; '.join(lines)}.")
    return parts


def goals(found):
    """Goal, what was reached, whether it is met (None: not measured)."""
    judged = []

    def add(group, goal, reached, is_met, alone=""):
        verdict = {True: "met", False: "**not met**", None: "not measured", ONE: "met on one thread"}[is_met]
        if is_met is not None and is_doubtful(found[group]):
            verdict += ", not final"
        judged.append([goal, reached, alone, verdict])

    def ratio_of(group, sizes, least, goal, **which):
        """All of some sizes must reach a ratio, with peer and Pliant each at its best number of threads, or both on one."""
        rows = [row for row in pick(found.get(group, {"rows": []}), **which) if "ratio" in row]
        best, alone = {}, {}
        for size in sizes:
            same = [row for row in rows if abs(row["size"] / size - 1.0) < 0.05]
            if same:
                best[size] = min(row["ms"] for row in same) / min(row["our_ms"] for row in same)
            for row in same:
                if row["threads"] == 1:
                    alone[size] = row["ratio"]

        def reached(ratios):
            return ", ".join(f"{times(ratio)} ({chart.short(round(size, -2))})" for size, ratio in ratios.items()) or "-"

        def is_met(ratios):
            return all(ratio >= least for ratio in ratios.values()) if len(ratios) == len(sizes) else None

        verdict = ONE if is_met(best) is False and is_met(alone) else is_met(best)
        add(group, goal, reached(best), verdict, reached(alone))

    skins = [8620, 24461, 34594, 200000]
    pypbd = {"peer": "pyPBD", "equal": "iterations"}
    ratio_of(
        "solver", [90000], 20, "`strain`, 90k tets, 10 iterations: 20 times faster than pyPBD", work="strain", **pypbd
    )
    ratio_of(
        "solver",
        [14000],
        15,
        "`position` with bind, 14k tets, 12 iterations: 15 times faster",
        work="position",
        **pypbd,
    )
    ratio_of(
        "solver",
        [90000],
        20,
        "`position` with bind, 90k tets, 12 iterations: 20 times faster",
        work="position",
        **pypbd,
    )
    if "solver" in found:
        own = {"peer": None, "work": "strain", "threads": max(threads_of(found["solver"]))}
        bars, frames = (
            [r for r in pick(found["solver"], output=o, **own) if r["size"] > 80000] for o in ["bar", "frames"]
        )
        if bars and frames:
            more = frames[0]["our_ms"] / bars[0]["our_ms"] - 1.0
            add(
                "solver",
                "`strain` with a frame field: no slower than without, within 3 %",
                f"{more * 100.0:+.1f} %",
                more <= 0.03,
            )
    armature, preserving = {"peer": "Blender", "work": "armature"}, {"peer": "Blender", "work": "preserve volume"}
    ratio_of(
        "skinning", skins, 25, "LBS: 25 times faster than Blender's frame", method="lbs", output="positions", **armature
    )
    ratio_of(
        "skinning",
        skins,
        20,
        "DQS: 20 times faster than Blender's frame",
        method="dqs",
        output="positions",
        **preserving,
    )
    ratio_of("skinning", skins, 10, "LBS: 10 times faster than numpy", peer="numpy", method="lbs", output="positions")
    turned = {"peer": "Blender", "work": "armature, normals"}
    for least, what, method, output in [
        (3, "`volume` with fold-over repair, 34.6k vertices: under a third of", "volume", "volume+overlap"),
        (1, "`smooth` with bulge, 34.6k vertices: under", "smooth", "smooth frame"),
        (1, "`metaballs`, all steps, 34.6k vertices: under", "metaballs", "metaballs+overlap"),
    ]:
        of = {"method": method, "output": f"{output}, positions", **armature}
        ratio_of("skinning", [34594], least, f"{what} Blender's plain frame, positions alone", **of)
        of = {"method": method, "output": output, **turned}
        ratio_of("skinning", [34594], least, f"{what} Blender's frame, both with normals", **of)
    if "scaling" in found:
        by_work = curves(found["scaling"])
        quarter = [row for row in by_work.get("strain", []) if abs(row["size"] / 250000 - 1.0) < 0.05]
        if quarter:
            reached = f"{ms(quarter[0]['our_ms'])} ms for {quarter[0]['size']} tets"
            add(
                "scaling",
                "Aim: `strain`, 250k tets, 10 iterations, 60 times a second on two cores",
                reached,
                quarter[0]["our_ms"] <= SIXTY,
            )
        for work, rows in by_work.items():
            large = [row for row in rows if row["size"] >= 9000]
            if len(large) > 1:
                power = exponent(large[0], large[-1])
                top = chart.short(round(large[-1]["size"], -3))
                goal = f"`{work}`: linear up to {top} {large[-1]['of']} (exponent up to {LINEAR})"
                add("scaling", goal, f"{power:.2f}", power <= LINEAR)
    return table(["goal", "reached", "on one thread", ""], judged, left=4) if judged else ""


def draw(found):
    named = [
        (work, rows[0]["of"] == "vertices", [(r["size"], r["our_ms"]) for r in rows])
        for work, rows in curves(found).items()
        if rows
    ]
    label = "tets (solid) or vertices (dashed)"
    return chart.log_log("A frame of Pliant against its size", label, "milliseconds a frame", named)


def write(folder):
    """README.md and scaling.svg, from the groups that are there."""
    found = {}
    for name in GROUPS:
        if (folder / f"{name}.json").is_file():
            found[name] = json.loads((folder / f"{name}.json").read_text())
    if not found:
        return
    parts = [ABOUT]
    machines = {json.dumps(each["machine"], sort_keys=True): each["machine"] for each in found.values()}
    for machine in machines.values():
        memory = f", {machine['memory_gb']} GB of memory" if "memory_gb" in machine else ""
        where = (
            "Machine"
            if len(machines) == 1
            else "Machine of " + ", ".join(n for n in found if found[n]["machine"] == machine)
        )
        about = f"{where}: {machine['cpu']}, {machine['cores']} cores{memory}; SIMD path {machine['simd']}; {machine['os']};"
        parts.append(f"{about} {machine['rustc']}.")
    how = """Ratios are of peer and Pliant each with the number of threads that it is fastest with, then of both on one
thread; sizes in brackets."""
    doubtful = [name for name, each in found.items() if is_doubtful(each)]
    if doubtful:
        how += f" **Not final: {', '.join(doubtful)} measured briefly or on a busy machine.**"
    parts += ["## Goals", how, goals(found)]
    titles = {"solver": "Solvers", "skinning": "Skinning", "tets": "Tet bodies", "scaling": "Scaling"}
    makers = {"solver": solver, "skinning": skinning, "tets": tets, "scaling": scaling}
    for name, each in found.items():
        parts += [f"## {titles[name]}", *makers[name](each)]
    if "scaling" in found:
        (folder / "scaling.svg").write_text(draw(found["scaling"]))
    (folder / "README.md").write_text("\n\n".join(part for part in parts if part) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
