#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the documentation site whole, and does it work in a browser?

usage: site.py     (build/site, which ./do docs makes; it has checked the links of the documents)

In the files: each link leads to a file and an anchor that are there, each page can be reached from the first one, and each
public name is on the page of its header. In a headless Chromium, from the files: no page logs an error, asks for anything
from elsewhere, or has to be scrolled sideways on a telephone of 390 pixels; the search finds a class, a function and a
name of C.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run"))
from source_text import ROOT  # noqa: E402

import chromium  # noqa: E402

PHONE = 390
FIRST = "index.html"
# What a reader looks for, and the page that has it.
SOUGHT = (("shared_mutex", "api/shared_mutex.html"), ("for_each", "api/team.html"), ("sync_threads", "api/member.html"),
          ("lockstep_team_run", "api/lockstep_h.html"), ("hyper-threads", "docs/faq.html"))


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        self.links += filter(None, (given.get("href"), given.get("src")))


def pages_of(site):
    return [path for path in sorted(site.rglob("*.html")) if "_downloads" not in path.parts]  # those are files of examples


def complaints_of_files(site, root):
    site = site.resolve()
    pages = {path: Page(path) for path in pages_of(site)}
    reached, left = set(), [site / FIRST]
    while left:
        path = left.pop()
        if path in reached:
            continue
        reached.add(path)
        for link in pages[path].links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.relative_to(site)}: no file '{link}'"
            elif target in pages:
                left.append(target)
                if parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
                    yield f"{path.relative_to(site)}: no anchor '{link}'"
    yield from (f"{path.relative_to(site)}: no link leads there" for path in pages.keys() - reached)
    names = re.findall(r"^lockstep/(\w+)\.hpp (\w+)$", (root / "tests/build/public_names.txt").read_text(), re.MULTILINE)
    for header in root.glob("bindings/c/lockstep.h"):
        names += re.findall(r"^()LOCKSTEP_C_API [^;(]*?\b(\w+)\(", header.read_text(), re.MULTILINE)
    for header, name in names:
        page = pages.get(site / "api" / f"{header or 'lockstep_h'}.html")
        anchor = re.compile(rf"_CPPv4.*N8lockstep(6detail)?{len(name)}{name}|c\.{name}$")
        if page is None or not any(map(anchor.match, page.anchors)):
            yield f"api/{header or 'lockstep_h'}.html: nothing about {name}"


def complaints_of_page(browser, base, name):
    browser.open(base + name)
    for complaint in browser.complaints():
        yield f"{name}: {complaint}"
    for event in browser.events:
        params = event.get("params", {})
        asked = params["request"]["url"] if event.get("method") == "Network.requestWillBeSent" else base
        if not asked.startswith((base, "data:", "blob:")):
            yield f"{name}: asks for {asked}"
        if event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            yield f"{name}: {params['args'][0].get('value')}"
    wide = browser.evaluate("document.documentElement.scrollWidth")
    if wide > PHONE:
        yield f"{name}: {wide} pixels wide on a telephone of {PHONE}"


def complaints_of_search(browser, base, word, page):
    browser.open(f"{base}search.html?q={word}")
    if not browser.until(f"!!document.querySelector('#search-results a[href*=\"{page}\"]')"):
        yield f"search: '{word}' does not find {page}"


def complaints_in_browser(site):
    base = site.resolve().as_uri() + "/"
    with chromium.Browser(PHONE, 800) as browser:
        browser.call("Network.enable")
        for path in pages_of(site):
            yield from complaints_of_page(browser, base, path.relative_to(site).as_posix())
        for word, page in SOUGHT:
            yield from complaints_of_search(browser, base, word, page)


def main():
    site = ROOT / "build" / "site"
    if not (site / FIRST).is_file() or chromium.find() is None:
        print("site.py: needs build/site, which ./do docs makes, and Chromium", file=sys.stderr)
        return 2
    found = [*complaints_of_files(site, ROOT), *complaints_in_browser(site)]
    print("\n".join([*(f"site: {complaint}" for complaint in found), f"site: {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
