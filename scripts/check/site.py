#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the documentation site whole, and does it work in a browser?

usage: site.py [--no-browser] [SITE]     (default: build/site, which ./do docs makes)

In the files: each link leads to a page and an anchor that are there; nothing is taken from elsewhere; each public header
has a page, and each public name a heading on it. In a headless Chromium, served from loopback: no page logs an error,
asks for anything from elsewhere, or has to be scrolled sideways on a telephone of 390 pixels; the search finds a class, a
function and a name of C, and leads to their pages; the switch makes the page dark and light again.
"""

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run"))
from source_text import ROOT  # noqa: E402

import chromium  # noqa: E402
from loopback import Server  # noqa: E402

PHONE = 390
VISIBLE = "getComputedStyle(document.body).backgroundColor"


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.headings, self.taken = [], set(), [], []
        self.heading = None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and given.get("name"):
            self.anchors.add(given["name"])
        if tag == "a" and given.get("href") is not None:
            self.links.append(given["href"])
        if tag in ("img", "script", "iframe", "source") and given.get("src"):
            self.taken.append(given["src"])
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "preconnect", "modulepreload"):
            self.taken.append(given["href"])
        if tag in ("h1", "h2", "h3", "h4"):
            self.heading = ""

    def handle_data(self, data):
        if self.heading is not None:
            self.heading += data

    def handle_endtag(self, tag):
        if tag in ("h1", "h2", "h3", "h4") and self.heading is not None:
            self.headings.append(self.heading)
            self.heading = None


def complaints_of_files(site, root):
    site = site.resolve()
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in page.links + page.taken:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.taken:
                    yield f"{name}: takes {link} from elsewhere"
                continue
            start = site if parts.path.startswith("/") else path.parent
            target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file():
                yield f"{name}: no file '{link}'"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name}: no anchor '{link}'"
    yield from missing_names(site, root, pages)


def missing_names(site, root, pages):
    include = root / "include/lockstep"
    headers = [path.relative_to(include).as_posix() for each in ("*.hpp", "mpi/*.hpp") for path in include.glob(each)]
    for header in headers:
        if header not in ("lockstep.hpp", "mpi.hpp") and site / "api" / f"{header[:-4].replace('/', '_')}.html" not in pages:
            yield f"no page for include/lockstep/{header}"
    for path in root.glob("bindings/c/**/lockstep.h"):
        page = pages.get(site / "api/lockstep_h.html")
        headings = " ".join(page.headings) if page else ""
        for name in re.findall(r"^LOCKSTEP_C_API [^;(]*?\b(lockstep_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            if not re.search(rf"\b{name}\b", headings):
                yield f"api/lockstep_h.html: no heading for {name}"
    for line in (root / "tests/build/public_names.txt").read_text().split("\n"):
        found = re.fullmatch(r"lockstep/(\w+)\.hpp (\w+)", line)
        page = found and pages.get(site / "api" / f"{found.group(1)}.html")
        if page and not any(re.search(rf"\b{found.group(2)}\b", heading) for heading in page.headings):
            yield f"api/{found.group(1)}.html: no heading for {found.group(2)}"


# --- in the browser ---


def errors(browser):
    yield from browser.complaints()
    for event in browser.events:
        if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "assert"):
            yield " ".join(str(argument.get("value", argument.get("description"))) for argument in event["params"]["args"])


def each_page(browser, base, names):
    for name in names:
        browser.open(base + name)
        for complaint in errors(browser):
            yield f"{name}: {complaint}"
        for event in browser.events:
            if event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith((base, "data:", "blob:")):
                    yield f"{name}: asks for {url}"
        wide = browser.evaluate("document.documentElement.scrollWidth")
        if wide > PHONE:
            yield f"{name}: {wide} pixels wide on a telephone of {PHONE}"


FIELD = """(() => { const seek = (r) => { for (const e of r.querySelectorAll('*')) {
  if (e.shadowRoot) { const f = seek(e.shadowRoot); if (f) return f; }
  if (e.matches('input[type=search], input[role=combobox], input[data-md-component=search-query], .md-search__input,'
                + ' input[type=text]') && e.offsetParent) return e; }
  return null; }; return seek(document); })()"""
# Links among the results that lead to PAGE.
RESULTS = """(() => { const all = []; const seek = (r) => { for (const e of r.querySelectorAll('*')) {
  if (e.shadowRoot) seek(e.shadowRoot);
  if (e.tagName === 'A' && new URL(e.href, location).pathname.endsWith('PAGE') && e.offsetParent
      && !e.closest('nav, .md-content')) all.push(e); } };
  seek(document); return all; })()"""
# What a reader looks for, and the page of the site that has it.
SOUGHT = (("barrier", "/api/barrier.html"), ("first_touch", "/api/first_touch.html"),
          ("lockstep_team_create", "/api/lockstep_h.html"))


def search(browser, base, sought):
    for word, page in sought:
        for complaint in search_for(browser, base, word, page):
            yield f"search: {complaint}"


def search_for(browser, base, word, page):
    browser.open(base + "index.html")
    opened = browser.until("(() => { const b = document.querySelector('[data-md-component=search] button, button.md-search__button');"
                           " if (b) b.click(); return true; })()")
    if not opened or not browser.until(f"!!({FIELD})"):
        yield "no field to write in"
        return
    browser.evaluate(f"({FIELD}).focus()")
    for letter in word:
        browser.key(letter)
    found = RESULTS.replace("PAGE", page)
    if not browser.until(f"({found}).length > 0"):
        yield f"'{word}' does not find {page}"
        return
    browser.evaluate(f"({found})[0].click()")
    if not browser.until(f"location.pathname.endsWith('{page}')"):
        yield f"the result for '{word}' does not lead to {page}"
    yield from errors(browser)


def dark_and_light(browser, base):
    browser.open(base + "index.html")
    light = browser.until(f"{VISIBLE} !== '' && {VISIBLE}")
    toggle = "[...document.querySelectorAll('label[for^=__palette]')].find((e) => !e.hidden && e.offsetParent)"
    if not browser.until(f"!!({toggle})"):
        yield "no switch for a dark page"
        return
    browser.evaluate(f"({toggle}).click()")
    if not browser.until(f"{VISIBLE} !== '{light}' && document.body.dataset.mdColorScheme === 'slate'"):
        yield "the switch makes no dark page"
    browser.evaluate(f"({toggle}).click()")
    if not browser.until(f"{VISIBLE} === '{light}'"):
        yield "the switch does not make the page light again"


def complaints_in_browser(site):
    site = site.resolve()
    names = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html")) if path.name != "404.html"]
    with Server(site) as server:
        with chromium.Browser(PHONE, 800) as browser:
            browser.call("Network.enable")
            yield from each_page(browser, server.url, names)
        with chromium.Browser(1200, 800) as browser:
            yield from search(browser, server.url, [each for each in SOUGHT if (site / each[1].lstrip("/")).is_file()])
            yield from dark_and_light(browser, server.url)


def main(argv):
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--no-browser", action="store_true")
    given = parser.parse_args(argv[1:])
    if not (given.site / "index.html").is_file():
        print(f"site.py: no site in {given.site}; ./do docs makes it", file=sys.stderr)
        return 2
    if not given.no_browser and chromium.find() is None:
        print(f"site.py: no browser (one of {', '.join(chromium.PROGRAMS)}); install one, or call with --no-browser",
              file=sys.stderr)
        return 2
    found = list(complaints_of_files(given.site, ROOT))
    if not given.no_browser:
        found += complaints_in_browser(given.site)
    for complaint in found:
        print(f"site: {complaint}")
    count = sum(1 for _ in given.site.rglob("*.html"))
    print(f"site: {count} pages, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
