"""Pliant beside its peers, all in one run: the same meshes on the same machine.

run.py PLIANT TARGET [--data FOLDER] [--out FOLDER] [--again] [--quick] [GROUP...]

Groups are solver, skinning, tets, scaling; without any, all. Each leaves GROUP.json in the folder of results, from which
page.py makes README.md. A group that is already there for the same commit is skipped, unless --again. Peers come from
PyPI, each into an environment of its own under TARGET. --quick measures the smallest sizes, briefly: to
try the scripts, not to publish.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import page
import scaling
import skinning
import solver
import tets
from common import PEERS, Run, cpu_seconds

GROUPS = {"solver": solver, "skinning": skinning, "tets": tets, "scaling": scaling}
ROOT = Path(__file__).resolve().parent.parent.parent


def text_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit():
    """With a mark where the code that is measured is not what was committed."""
    changed = text_of("git", "status", "--porcelain", "--", "crates", "Cargo.toml", "Cargo.lock")
    return (text_of("git", "rev-parse", "--short", "HEAD") or "unknown") + ("+changes" if changed else "")


def machine(pliant):
    """What counts for speed; nothing that says whose it is."""
    about = {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    if Path("/proc/cpuinfo").is_file():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        about["cpu"] = next(
            (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), about["cpu"]
        )
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        about["memory_gb"] = round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    probe = text_of(pliant, "bench", "--method", "lbs", "--sizes", "1000", "--threads", "1", "--json")
    about["simd"] = json.loads(probe)[0]["path"]
    try:
        release = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (AttributeError, KeyError, OSError):
        release = platform.release()
    about["os"] = f"{release} ({platform.system()}, {platform.machine()})"
    about["rustc"] = text_of("rustc", "--version")
    return about


def known(file):
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return {}


def one_group(run, name, now, about, out):
    run.begin_group()
    started, before = time.monotonic(), cpu_seconds()
    rows = GROUPS[name].measure(run)
    seconds = time.monotonic() - started
    others = None
    if before:
        everyone, ours = (b - a for a, b in zip(before, cpu_seconds()))
        others = round(max(everyone - ours, 0.0) / seconds, 2)
    found = {
        "group": name,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": now,
        "quick": run.quick,
        "seconds": round(seconds),
        "cores_taken_by_others": others,
        "machine": about,
        "peers": run.versions,
        "left_out": [{"peer": peer, "why": why} for peer, why in run.left_out.items()],
        "rows": rows,
    }
    # Whole or not at all.
    part = out / f"{name}.json.part"
    part.write_text(json.dumps(found, indent=1) + "\n")
    part.replace(out / f"{name}.json")
    if others is not None and others > page.BUSY:
        run.say(f"{name}: others took {others} cores meanwhile: figures mean little")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pliant")
    parser.add_argument("target")
    parser.add_argument("--data")
    parser.add_argument("--out", default=ROOT / "docs" / "results" / "bench", type=Path)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    args = parser.parse_intermixed_args()
    unknown = [name for name in args.groups if name not in GROUPS]
    if unknown:
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    pliant = str(Path(args.pliant).resolve())
    args.out.mkdir(parents=True, exist_ok=True)
    now, failed = commit(), []
    names = [name for name in GROUPS if not args.groups or name in args.groups]
    wanted = []
    for name in names:
        there = known(args.out / f"{name}.json")
        if there.get("commit") == now and "+" not in now and not there.get("quick") and not args.again:
            missing = ", ".join(sorted({each["peer"].partition(",")[0] for each in there["left_out"]}))
            print(
                f"{name}: there already for {now}{f', not complete: {missing}' if missing else ''}; --again repeats it"
            )
        else:
            wanted.append(name)
    if wanted:
        run = Run(pliant, Path(args.target).resolve(), args.data, args.quick)
        about = machine(pliant)
        # Before anything is measured, so that nothing is unpacked meanwhile.
        uses = {"solver": ["pypbd", "newton"], "skinning": ["numpy", "libigl", "blender"], "tets": ["ftetwild"]}
        for peer in [peer for name in wanted for peer in uses.get(name, [])]:
            try:
                run.python(peer)
            except Exception as why:
                run.say(f"{PEERS[peer]['shown']}: {why}")
        for number, name in enumerate(wanted):
            run.say(f"{name}: group {number + 1} of {len(wanted)}")
            try:
                one_group(run, name, now, about, args.out)
            except (RuntimeError, OSError, subprocess.CalledProcessError, KeyError, ValueError) as why:
                # The other groups still count.
                failed.append(name)
                run.say(f"{name}: failed: {why!r}")
    page.write(args.out)
    print(f"Written: {args.out / 'README.md'}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


main()
