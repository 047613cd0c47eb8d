# SPDX-License-Identifier: MIT
"""Serves examples/browser from loopback, with and without the headers that threads need, and looks at it in Chromium."""

import chromium
from loopback import Server

ISOLATION = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}


def look(directory, picture, limit):
    """Opens the page; returns (what is checked, whether it is so, what was found instead) of each check."""
    checks = []

    def check(what, is_good, found):
        checks.append((what, bool(is_good), found))

    with Server(directory) as server, chromium.Browser(1100, 700) as browser:
        browser.open(f"{server.url}index.html")
        said = browser.evaluate("document.getElementById('state').textContent")
        check("a page without the headers says what to do", "Cross-Origin-Opener-Policy" in said, said)

    with Server(directory, ISOLATION) as server, chromium.Browser(1100, 700) as browser:
        browser.open(f"{server.url}index.html")
        check("the page comes to its end", browser.until("found.done", limit), f"not in {limit} s")
        jacobi = browser.evaluate("found.jacobi && [found.jacobi.same, found.jacobi.iterations, found.jacobi.members]")
        check("jacobi has the same bits as the serial run", jacobi and jacobi[0] and jacobi[1] > 10 and jacobi[2] == 2, jacobi)
        for i, members in enumerate((2, 3, 4)):
            ring = browser.evaluate(f"found.rings[{i}] || null")
            check(f"a token goes around {members} threads",
                  ring and ring["passed"] == members * ring["rounds"] and ring["median"] > 0, ring)
        browser.next_frame()
        picture.write_bytes(browser.screenshot())
        colours = {pixel for row in browser.pixels() for pixel in row}
        check("the plate is drawn", len(colours) > 100, f"{len(colours)} colours")
        complaints = browser.complaints()
        check("the browser does not complain", not complaints, complaints)
    return checks
