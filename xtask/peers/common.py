"""What all groups share: asking Pliant, asking peers, saying how far the work is."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = json.loads((HERE / "requirements.json").read_text())
INSTALL_LIMIT = 1200.0  # Seconds; Blender alone is 400 MB.
ANSWER_LIMIT = 240.0  # Seconds that a peer may take for one answer.


class PeerFailed(Exception):
    """A peer that cannot be installed or run, with why, in one line."""


def one_line(text):
    """The last line that says something, without addresses and paths: it is published."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = next(
        (line for line in reversed(lines) if "error" in line.lower()), lines[-1] if lines else "no reason given"
    )
    last = re.sub(r"\w+://\S+", "(address)", last)
    return re.sub(r"(?<![\w.])(?:[A-Za-z]:)?[/\\]\S*[/\\]", "", last)[:200]


class Run:
    """One run: where things are, how thorough it is, what was left out."""

    def __init__(self, pliant, target, data, quick):
        self.pliant, self.target, self.data, self.quick = pliant, Path(target), data and Path(data), quick
        self.files = self.target / "peers-files"
        self.files.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        self.pythons = {}
        self.begin_group()
        # Both cores and one; no more, so that figures of different machines can be compared.
        self.threads = [1, 2] if (os.cpu_count() or 1) > 1 else [1]

    def begin_group(self):
        self.left_out, self.versions, self.given_up = {}, {}, {}

    def say(self, text):
        print(f"[{time.monotonic() - self.started:4.0f} s] {text}", flush=True)

    def seconds(self, usual):
        """How long something is measured."""
        return usual / 8.0 if self.quick else usual

    def sizes(self, usual):
        return usual[:2] if self.quick else usual

    def bench(self, method, size, threads, *more, times=1):
        """Rows of `pliant bench`, the best of several runs, by output and threads."""
        command = [self.pliant, "bench", "--method", method, "--sizes", str(size), "--json"]
        command += ["--threads", ",".join(map(str, threads)), *map(str, more)]
        best = {}
        for _ in range(1 if self.quick else times):
            ran = subprocess.run(command, capture_output=True, text=True)
            if ran.returncode != 0:
                raise RuntimeError(f"pliant bench failed: {one_line(ran.stderr)}")
            for row in json.loads(ran.stdout):
                merge_best(best, (row["output"], row["threads"]), row)
        return best

    def ask(self, peer, script, *args, environment=None, limit=ANSWER_LIMIT):
        """A peer's answer, from a process of its own: threads are chosen there, and it can be stopped."""
        try:
            if peer in self.given_up:
                raise PeerFailed(self.given_up[peer])
            python = self.python(peer)
            command = [str(python), str(HERE / script), *map(str, args)]
            try:
                ran = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    cwd=self.files,
                    env=self.environment() | (environment or {}),
                    timeout=limit,
                )
            except subprocess.TimeoutExpired:
                # Larger work would take as long again for nothing.
                self.given_up[peer] = f"not done in {limit:.0f} s"
                raise PeerFailed(self.given_up[peer]) from None
            if ran.returncode != 0:
                raise PeerFailed(f"failed: {one_line(ran.stderr)}")
            # The last line that is JSON: libraries talk, also at their end.
            answers = [line for line in ran.stdout.splitlines() if line.startswith("{")]
            if not answers:
                raise PeerFailed("gave no answer")
            answer = json.loads(answers[-1])
        except PeerFailed as why:
            self.say(f"{PEERS[peer]['shown']}: {why}")
            raise
        self.versions[PEERS[peer]["shown"]] = answer.pop("version")
        return answer

    def environment(self):
        """Caches stay under target."""
        kernels = str(self.target / "peers-newton" / "kernels")
        return os.environ | {"WARP_CACHE_PATH": kernels, "PYTHONDONTWRITEBYTECODE": "1"}

    def leave_out(self, peer, why, work=""):
        """Said in the result; a peer that is not there at all, once."""
        shown = PEERS[peer]["shown"]
        if isinstance(self.pythons.get(peer), PeerFailed):
            work = ""
        self.left_out[f"{shown}, {work}" if work else shown] = str(why)

    def python(self, peer):
        """The interpreter of the peer's own environment, which is made once."""
        if peer not in self.pythons:
            try:
                self.pythons[peer] = self.install(peer)
            except PeerFailed as why:
                self.pythons[peer] = why
        if isinstance(self.pythons[peer], PeerFailed):
            raise self.pythons[peer]
        return self.pythons[peer]

    def install(self, peer):
        about, folder = PEERS[peer], self.target / f"peers-{peer}"
        python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        done, wanted = folder / "installed.txt", "\n".join(about["packages"])
        if python.is_file() and done.is_file() and done.read_text() == wanted:
            return python
        self.say(f"installing {about['shown']}")
        why = "no " + " or ".join(about["python"])
        for base in about["python"]:
            if not shutil.which(base):
                continue
            shutil.rmtree(folder, ignore_errors=True)
            for command in [
                [base, "-m", "venv", str(folder)],
                [str(python), "-m", "pip", "install", "--quiet", "--retries", "5", *about["packages"]],
                *([[str(python), str(HERE / about["prepare"]), "--prepare"]] if "prepare" in about else []),
            ]:
                try:
                    ran = subprocess.run(
                        command, capture_output=True, text=True, env=self.environment(), timeout=INSTALL_LIMIT
                    )
                except (OSError, subprocess.TimeoutExpired) as error:
                    why = one_line(str(error))
                    break
                if ran.returncode != 0:
                    why = one_line(ran.stderr)
                    break
            else:
                done.write_text(wanted)
                return python
        raise PeerFailed(f"cannot be installed: {why}")


def merge_best(best, key, row):
    """Keeps the faster of two measurements, which must agree in what came out."""
    known = best.get(key)
    if known and known["state_hash"] != row["state_hash"]:
        raise RuntimeError(f"{key}: two runs of one work gave {known['state_hash']} and {row['state_hash']}")
    if not known or row["ms"] < known["ms"]:
        best[key] = row


def merge_all(best, more):
    for key, row in more.items():
        merge_best(best, key, row)
    return best


def cpu_seconds():
    """Of all processes together and of this one with its children; None where the system does not say."""
    if sys.platform != "linux":
        return None
    fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    idle = fields[3] + fields[4]
    mine = os.times()
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK"), sum(mine[:4])
