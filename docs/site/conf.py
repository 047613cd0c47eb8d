# SPDX-License-Identifier: MIT
"""Sphinx's settings for the documentation site; scripts/make/site_pages.py calls it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from check.versions import version_of  # noqa: E402

project = "lockstep"
version = release = version_of(ROOT)
root_doc = "README"
include_patterns = ["*.md", "docs/**.md", "bindings/*/README.md", "bench/**.md", "api/*.md", "examples/**.md"]
extensions = ["myst_parser", "breathe"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
breathe_projects = {"lockstep": str(ROOT / "build/site-work/xml")}
breathe_default_project = "lockstep"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
suppress_warnings = ["duplicate_declaration"]  # each header's page names the namespace
html_show_search_summary = False  # it is fetched, which no browser does from a file
highlight_language = "none"
html_theme = "furo"
html_title = f"lockstep {version}"
html_copy_source = False
html_css_files = ["extra.css"]
html_static_path = ["extra.css"]

