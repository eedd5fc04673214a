#!/usr/bin/env python3
"""Measures uploads of a large file with the browser page, compared with a plain fetch in the same browser and with
curl, in turns.

    bench/browser-upload.py [--davit PATH] [--mebibytes N] [--rounds N] [--markdown FILE]

All files are in memory (/dev/shm), so that no disk is measured. Prints the median of each method, and its ratio to
the plain fetch. Requires a Python with Playwright: scripts/browser-python.sh prints its path.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "Tests/Browser"))

import document  # noqa: E402
import harness  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

BARE = """async () => {
    const file = document.getElementById("bare").files[0]
    const begin = performance.now()
    const answer = await fetch("bare.bin", { method: "PUT", body: file })
    if (!answer.ok) throw new Error(answer.status)
    return performance.now() - begin
}"""
PAGE = """async verifies => {
    const script = document.querySelector("script[type=module]").src
    const { queue } = await import(script.replace("main.js", "upload/main.js"))
    const { startUpload } = await import(script.replace("main.js", "upload/start.js"))
    queue.verifies = verifies
    queue.clearDone()
    const done = new Promise((resolve, reject) => {
        queue.addEventListener("done", resolve, { once: true })
        queue.addEventListener("failed", event => reject(event.detail.problem), { once: true })
    })
    const begin = performance.now()
    startUpload({ folder: location.pathname, items: document.getElementById("bare").files })
    await done
    return performance.now() - begin
}"""


def with_curl(lab, file):
    begin = time.monotonic()
    subprocess.run(["curl", "-sS", "--fail", "-o", "/dev/null", "-T", str(file), lab.url + "curl.bin"], check=True)
    return (time.monotonic() - begin) * 1000


def measure(lab, options):
    file = lab.work / "large.bin"
    piece = os.urandom(1 << 20)
    with open(file, "wb") as out:
        for _ in range(options.mebibytes):
            out.write(piece)
    page = lab.page()
    page.locator("[data-action=upload]").wait_for()
    page.evaluate("""() => {
        const input = Object.assign(document.createElement("input"), { type: "file", id: "bare" })
        document.body.append(input)
    }""")
    page.set_input_files("#bare", str(file))
    ways = {
        "bare fetch": lambda: page.evaluate(BARE),
        "page": lambda: page.evaluate(PAGE, False),
        "page, verified": lambda: page.evaluate(PAGE, True),
        "curl": lambda: with_curl(lab, file),
    }
    found = {name: [] for name in ways}
    for turn in range(options.rounds + 1):
        for name, way in ways.items():
            milliseconds = way()
            # The first turn of each method is the warm-up.
            if turn > 0:
                found[name].append(options.mebibytes / (milliseconds / 1000))
            for made in lab.share.iterdir():
                made.unlink()
    for name, rates in found.items():
        print(f"{name:15} {statistics.median(rates):6.0f} MiB/s  ({', '.join(f'{rate:.0f}' for rate in rates)})", file=sys.stderr)
    turns = {name: [rate / bare for rate, bare in zip(rates, found["bare fetch"])] for name, rates in found.items()}
    return {"mebibytes": options.mebibytes, "rounds": options.rounds, "turns": turns,
            "shares": {name: statistics.median(shares) for name, shares in turns.items()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davit", default=os.environ.get("DAVIT", str(ROOT / ".build/release/davit")))
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", help="update the figures in this document")
    options = parser.parse_args()
    options.files = options.screenshots = None
    tempfile.tempdir = "/dev/shm"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"] if os.geteuid() == 0 else [])
        lab = harness.Lab(browser, options, "speed")
        lab.arguments.short = False
        try:
            run = {"chromium": browser.version, **measure(lab, options)}
        finally:
            lab._close("ended")
        browser.close()
    document.keep(run, "browser-upload", document.browser_upload_part, options.markdown)


main()
