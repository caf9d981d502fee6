"""From sections to text: tables, whether each bar held, the page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sections import Row, Section
from sizes import N_LABELS

INTRODUCTION = """\
# Benchmarks

This page and its figure are written by `make bench DOCS=1`; `make bench` alone prints the tables and saves them in
`build/bench/results.md`. `python bench/run.py --help` shows how to run a part, to repeat it more often, or to add
`trec_eval` by its path.

The tools of a table run in one session, each in its own process, in turns. The minimum of three turns is reported (a
tool that has worked for half a minute is not started again). They compute the same five measures per topic: nDCG@10,
AP, P@10, RR and R@100. *Work* is the time from files to scores, without starting Python and loading libraries; *with
start* includes both. *Times venire* is the ratio of the minima, with the median of the ratios within turns in
parentheses. *Differs by* is the largest difference from Venire's scores over all systems, topics and measures; ranx
orders ties differently, see [differences](reference/differences.md). Venire uses all cores, and ranx may; the others
use one. *Numpy scan* is Venire without a C compiler at installation.
"""
FIGURE = "![Seconds of work by tool and workload, on a logarithmic axis](benchmarks.svg)"


def page(machine: str, notices: Sequence[str], sections: Mapping[str, Section]) -> str:
    parts = [INTRODUCTION, "Measured on: " + " ".join([machine, *notices])]
    if {"w1", "w2", "dl21"} <= set(sections):
        parts.append(FIGURE)
    parts += ["## Targets", *verdicts(sections)]
    return "\n\n".join(part.rstrip() for part in [*parts, *map(heading, sections.values())]) + "\n"


def heading(section: Section) -> str:
    others = f"Other processes used {section.others():.0%} of the cores during the measurement."
    about = f"{section.about} {others}".strip()
    return f"## {section.title}\n\n{about}\n\n{table([section.header, *section.rows])}"


def table(rows: Sequence[Row]) -> str:
    """Lay out a table of which the first row is the header."""
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    lines = [rows[0], ["-" * width for width in widths], *rows[1:]]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def verdicts(sections: Mapping[str, Section]) -> list[str]:
    """One paragraph per bar that was measured."""
    return [f"**{bar}.** {'Met' if held else 'Not met'}: {figures}." for bar, held, figures in bars(sections)]


def bars(sections: Mapping[str, Section]) -> Iterator[tuple[str, bool, str]]:
    for name, least in (("w1", 12), ("w2", 20)):
        if name in sections and "pytrec_eval" in sections[name].costs:
            ours, theirs = (sections[name].best(who) for who in ("venire", "pytrec_eval"))
            figures = f"{theirs / ours:.1f} times, {ours:.2f} s against {theirs:.2f} s"
            yield f"At least {least} times as fast as pytrec_eval on {name.upper()}", theirs / ours >= least, figures
    if "w2" in sections:
        peak = sections["w2"].best("venire", "peak")
        yield "Less than 120 MB on W2", peak < 120, f"{peak:.0f} MB at the peak"
    if "growth" in sections:
        one, eight = (sections["growth"].best(name) for name in ("1x", "8x"))
        figures = f"{eight / one:.2f} times the time, {eight:.2f} s against {one:.3f} s"
        yield "Eight times the lines in at most 8.8 times the time", eight / one <= 8.8, figures
    if "single" in sections and "pytrec_eval script" in sections["single"].costs:
        ours, theirs = (sections["single"].best(who, "whole") for who in ("venire evaluate", "pytrec_eval script"))
        figures = f"{ours / theirs:.2f} times, {ours:.2f} s against {theirs:.2f} s"
        yield (
            "One file from the command line in at most 1.5 times what a pytrec_eval script takes",
            ours / theirs <= 1.5,
            figures,
        )
    if "labels" in sections:
        yield from label_bar(sections["labels"])
    if "disagreement" in sections:
        yield from disagreement_bars(sections["disagreement"])
    if "power" in sections:
        ours, theirs = (sections["power"].best(name) for name in ("venire", "scipy.stats.bootstrap"))
        figures = f"{theirs / ours:.0f} times, {ours:.3f} s against {theirs:.1f} s"
        yield "Discriminative power at least 40 times as fast as scipy.stats.bootstrap", theirs / ours >= 40, figures
    if "judges" in sections:
        ours, theirs = (sections["judges"].best(name) for name in ("venire", "qrels rewritten"))
        peak = sections["judges"].best("venire", "peak")
        figures = f"{theirs / ours:.0f} times, {ours:.1f} s against {theirs:.0f} s, {peak:.0f} MB"
        held = theirs / ours >= 50 and peak < 1024
        yield "2,000 judges at least 50 times as fast as rewriting qrels, under 1 GiB", held, figures

    if "agreement" in sections:
        yield from agreement_bars(sections["agreement"])
    if "pdp" in sections:
        small, large = sections["pdp"].costs
        each, peak = sections["pdp"].best(small, "ms_per_topic"), sections["pdp"].best(large, "peak")
        figures = f"{each:.3f} ms; {large} in {sections['pdp'].best(large):.1f} s and {peak:.0f} MB"
        held = each <= 0.6 and peak < 1024
        yield "PDP in at most .6 ms a topic at K = 5, and 10,000 topics at K = 10 under 1 GiB", held, figures
    if "clicks" in sections:
        peak = sections["clicks"].best("venire", "peak")
        figures = f"{peak:.0f} MB at the peak, {sections['clicks'].best('venire'):.1f} s"
        yield "A click log of 10,000,000 rows in less than 1 GiB", peak < 1024, figures


def agreement_bars(section: Section) -> Iterator[tuple[str, bool, str]]:
    if "krippendorff" in section.costs:
        times, share = (
            section.best("krippendorff") / section.best("venire"),
            section.best("venire", "peak") / section.best("krippendorff", "peak"),
        )
        figures = f"{times:.1f} times, with {share:.2f} of the memory"
        bar = "Alpha at least 4 times as fast as krippendorff from counts, in less than a third of its memory"
        yield bar, times >= 4 and share < 1 / 3, figures
    if "evalica, interval" in section.costs:
        times = section.best("evalica, interval") / section.best("venire, interval")
        yield "Its interval at least 30 times as fast as evalica's", times >= 30, f"{times:.0f} times"


def label_bar(section: Section) -> Iterator[tuple[str, bool, str]]:
    few, many = f"{N_LABELS[0]:,}", f"{N_LABELS[-1]:,}"
    time, peak = (section.best(many, what) / section.best(few, what) for what in ("work", "peak"))
    figures = (
        f"{many} labels in {section.best(many):.1f} s and {section.best(many, 'peak'):.0f} MB; eight times the labels"
    )
    figures += f" take {time:.2f} times the time and {peak:.2f} times the memory"
    held = section.best(many) <= 10 and peak <= 8.8
    yield "Ten million labels in at most ten seconds, in memory linear in the file", held, figures


def disagreement_bars(section: Section) -> Iterator[tuple[str, bool, str]]:
    ours, loop, kept = (section.best(name) for name in ("venire", "dictionary loop", "counts kept"))
    figures = f"{loop / ours:,.0f} times, {1000 * ours:.1f} ms against {loop:.0f} s; {kept / ours:.0f} times"
    figures += " where counts are kept per topic"
    yield (
        "Disagreement with 300 resamples at least 50 times as fast as a dictionary loop over pairs",
        (loop / ours >= 50),
        figures,
    )
    peak = section.best(f"venire, {N_LABELS[-1]:,}", "peak")
    yield f"Disagreement of {N_LABELS[-1]:,} labels in less than 2 GiB", peak < 2048, f"{peak:.0f} MB at the peak"
