# SPDX-License-Identifier: MIT
"""Reads the directives of DejaGnu, `{ dg-... }` in comments, as far as libgomp's test-suite uses them.

What is about the compiler's messages and dumps (dg-error, dg-warning, dg-final, ...) is passed over.
"""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

DIRECTIVE = re.compile(r"\{[ \t]+dg-([-a-z]+)[ \t]+(.*)[ \t]+\}")
WORD = re.compile(r'\s*("(?:\\.|[^"\\])*"|[^\s{"][^\s]*|\{)', re.DOTALL)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}

EVERYWHERE = {"fd_truncate", "fpic", "large_long_double", "lp64", "lto", "offload_device_shared_as", "shared",
              "size32plus", "sync_int_long", "tls", "tls_runtime"}
ON_X86 = {"__float128", "sse2_runtime", "vect_simd_clones"}
NOWHERE = {"aarch64_tiny", "ia32", "run_expensive_tests", "skip-all-targets"}


def tcl_words(text):
    """The words of a Tcl list: bare, "quoted with escapes", or {taken as they are}."""
    words, at = [], 0
    while found := WORD.match(text, at):
        word, at = found[1], found.end()
        if word == "{":
            end = closing_brace(text, at)
            word, at = text[at:end], end + 1
        elif word.startswith('"'):
            word = re.sub(r"\\(.)", lambda escape: ESCAPES.get(escape[1], escape[1]), word[1:-1], flags=re.DOTALL)
        words.append(word)
    return words


def closing_brace(text, at):
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at - 1


@dataclass
class Machine:
    """What the conditions of the directives ask about. The only device is the host, which shares its memory."""

    triplet: str  # of four parts, as DejaGnu has it: x86_64-pc-linux-gnu

    def has(self, condition, language):
        if "*" in condition:
            return fnmatchcase(self.triplet, condition)
        if condition in ("c", "c++"):
            return condition == language
        if condition == "avx_runtime":
            return self.is_x86() and re.search(r"\bavx\b", Path("/proc/cpuinfo").read_text()) is not None
        if condition in ON_X86:
            return self.is_x86()
        if condition in EVERYWHERE:
            return True
        if condition in NOWHERE or condition.startswith("offload_"):
            return False
        raise ValueError(f"a condition that this script does not know: {condition}")

    def is_x86(self):
        return self.triplet.startswith("x86_64-")

    def holds(self, words, language):
        """A condition: names and triplets of which one must hold, or an expression with !, && and ||."""
        for operator, combine in (("||", any), ("&&", all)):
            if operator in words:
                at = words.index(operator)
                return combine(self.holds(side, language) for side in (words[:at], words[at + 1:]))
        if words[0] == "!":
            return not self.holds(words[1:], language)
        if len(words) > 1:
            return any(self.holds([word], language) for word in words)
        inner = tcl_words(words[0])
        return self.has(inner[0], language) if len(inner) == 1 else self.holds(inner, language)


@dataclass
class Directives:
    do: str = "run"  # or link, compile
    options: list = field(default_factory=list)
    more_sources: list = field(default_factory=list)  # paths, as the file has them
    environment: dict = field(default_factory=dict)
    should_fail: bool = False
    output: str = ""  # a regular expression that the output contains
    timeout_factor: float = 1
    skip: str = ""  # why it cannot be built or run here


def read_directives(text, language, flags, default_options, machine):
    """`flags` are given with every test, `default_options` unless the file has dg-options."""
    found = Directives(options=list(default_options))
    more_options = []
    for name, rest in DIRECTIVE.findall(text):
        words = tcl_words(rest)
        if name == "skip-if":
            if skipped(words, language, flags, machine):
                found.skip = f"not for this machine: {words[0] or ' '.join(words[1:2]).strip()}"
            continue
        if name == "require-effective-target":
            if not machine.has(words[0], language):
                found.skip = f"needs {words[0]}"
            continue
        *words, condition = [*words, ""] if len(words) < 2 or not words[-1].split()[:1] == ["target"] else words
        if condition and not machine.holds(tcl_words(condition)[1:], language):
            if name == "do":
                found.skip = f"only for {' '.join(condition.split()[1:])}"
            continue
        if name == "do":
            found.do = words[0]
        elif name == "options":
            found.options = words[0].split()
        elif name == "additional-options":
            more_options += words[0].split()
        elif name == "additional-sources":
            found.more_sources += words[0].split()
        elif name == "set-target-env-var":
            found.environment[words[0]] = words[1]
        elif name == "shouldfail":
            found.should_fail = True
        elif name == "output":
            found.output += words[0]
        elif name == "timeout-factor":
            found.timeout_factor = float(words[0])
    found.options = [*flags, *found.options, *more_options]
    return found


def skipped(words, language, flags, machine):
    """dg-skip-if: comment, condition, [options for which to skip, [options for which not to skip]]."""
    _, condition, include, exclude = [*words, "*", ""][:4] if len(words) < 4 else words
    if not machine.holds([condition], language):
        return False

    def some_flag(patterns):
        return any(fnmatchcase(flag, pattern) for pattern in patterns for flag in ["", *flags])

    return some_flag(tcl_words(include)) and not some_flag(tcl_words(exclude))
