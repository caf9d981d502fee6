"""venire judge ask: a language model answers the tasks of a study."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from venire.cli.judge.arguments import database_option, read_apart, study_argument
from venire.cli.options import Command, Number, flag, gathered, number, option, output_options, rng_option, whole_number
from venire.cli.output import Output, Table, on_a_terminal
from venire.results import counted

if TYPE_CHECKING:
    from venire.judging.machines.asking import Agenda, Forecast, Prices, Tally
    from venire.judging.machines.client import Endpoint
    from venire.judging.machines.prompts import Prompts
    from venire.judging.store import Store
    from venire.judging.tasks import Task

EXAMPLES = """\b
Examples:
  venire judge ask demo.toml --show-prompt
  venire judge ask demo.toml --model llama3 --base-url http://127.0.0.1:8000/v1 --limit 20
  venire judge ask demo.toml --model gpt-4.1 --base-url https://api.openai.com/v1 --price-in 2 --price-out 8

The key is read from the environment variable OPENAI_API_KEY, or from the one that --key-variable names.
"""
SERVER, ASKING, COST = "Server", "Asking", "Cost"


server = gathered(
    "server",
    {
        "model": option("--model", section=SERVER, metavar="NAME", help="The model, as the server calls it."),
        "url": option(
            *("--base-url", "url"),
            section=SERVER,
            metavar="URL",
            envvar="OPENAI_BASE_URL",
            show_envvar=True,
            help="Where the server is: chat completions are at URL/chat/completions.",
        ),
        "key_variable": option(
            "--key-variable",
            section=SERVER,
            default="OPENAI_API_KEY",
            metavar="NAME",
            help="Environment variable that holds the key; none is sent if it is not set.",
        ),
        "temperature": number(
            "--temperature", section=SERVER, default=0.0, help="Temperature; left to the server if it refuses one."
        ),
        "timeout": option(
            "--timeout",
            section=SERVER,
            type=Number(min=0, min_open=True),
            default=120.0,
            metavar="SECONDS",
            help="How long to wait for a reply.",
        ),
        "attempts": whole_number(
            "--attempts", section=SERVER, least=1, default=8, help="How often a request is sent that fails temporarily."
        ),
    },
)
asking = gathered(
    "asking",
    {
        "assessor": option(
            "--assessor",
            section=ASKING,
            metavar="NAME",
            help="The machine among the assessors of the study.  [default: the only one]",
        ),
        "concurrency": whole_number(
            "--concurrency", section=ASKING, least=1, default=8, help="Number of requests at the same time."
        ),
        "limit": whole_number("--limit", section=ASKING, least=1, help="Send at most this many requests."),
        "repeats": whole_number(
            "--repeats", section=ASKING, least=1, default=1, metavar="R", help="How often each task is asked."
        ),
        "replace": flag(
            "--replace", section=ASKING, help="Replace answers that the machine gave by another model or prompt."
        ),
        "again": flag("--again", section=ASKING, help="Ask tasks again whose replies could not be read."),
    },
)
cost = gathered(
    "cost",
    {
        "tokens_in": number(
            *("--price-in", "tokens_in"), section=COST, default=0.0, help="Price of a million tokens of prompts."
        ),
        "tokens_out": number(
            *("--price-out", "tokens_out"), section=COST, default=0.0, help="Price of a million tokens of answers."
        ),
    },
)


@click.command("ask", cls=Command, epilog=EXAMPLES)
@study_argument
@server
@asking
@cost
@flag("--show-prompt", section=ASKING, help="Print the prompts, one of each kind of task, and end.")
@flag("--yes", section=ASKING, help="Do not ask before requests are sent.")
@database_option
@output_options()
@rng_option(used=False)
def command(
    *,
    study: str,
    server: Mapping[str, Any],
    asking: Mapping[str, Any],
    cost: Mapping[str, float],
    show_prompt: bool,
    yes: bool,
    database: str | None,
    out: Output,
) -> None:
    """Answer the tasks of STUDY.toml with a language model, through an OpenAI-compatible server.

    The model is an assessor of the study with kind = "machine".  Its prompts are made of the study's guidelines and
    scale.  What is stored is not asked again: run the command again after an interruption.  Replies that cannot be
    read are counted and kept, and their tasks stay without an answer.
    """
    from venire.judging.machines.asking import Machine, Prices, agenda, forecast, machine_name
    from venire.judging.machines.prompts import Prompts
    from venire.judging.store import Store

    found, tasks = read_apart(study, database)
    prompts = Prompts(found)
    if show_prompt:
        out.text(_shown(prompts, tasks))
        return
    endpoint = _endpoint(server)
    machine = Machine(assessor=machine_name(found, asking["assessor"]), model=endpoint.model, prompts=prompts)
    with Store.open(found, tasks, database) as store:
        told = {name: asking[name] for name in ("repeats", "limit", "replace", "again")}
        asked = agenda(machine, tasks, store, **told)
        bill = (forecast(asked), Prices(**cost))
        out.notes(_forecast_notes(asked, *bill))
        if asked.requests and not (yes or _agreed()):
            raise click.Abort
        _ask(asked, store, endpoint, bill, asking["concurrency"], out)


def _endpoint(server: Mapping[str, Any]) -> Endpoint:
    from venire.judging.machines.client import Endpoint

    for name, needed in (("model", "--model NAME"), ("url", "--base-url URL")):
        if not server[name]:
            raise click.UsageError(f"{needed} is missing")
    settings = {name: server[name] for name in ("model", "url", "temperature", "timeout", "attempts")}
    return Endpoint(key=os.environ.get(server["key_variable"], ""), **settings)


def _shown(prompts: Prompts, tasks: Sequence[Task]) -> str:
    """Return the prompt of the first task of each kind, and the hash of them all."""
    first = {(task.kind, bool(task.given), task.view): task for task in reversed(tasks)}
    parts = []
    for task in sorted(first.values(), key=lambda each: each.position):
        prompt = prompts.prompt(task)
        about = f"{task.kind}, {task.view}" + (", given another document" if task.given else "")
        parts += [f"=== {about}: system", prompt.system, "=== user", prompt.user]
        parts += ["=== JSON Schema of the answer", json.dumps(prompt.schema, ensure_ascii=False)]
    return "\n\n".join([*parts, f"=== hash of the prompts\n\n{prompts.hash}"]) + "\n"


def _forecast_notes(asked: Agenda, expected: Forecast, prices: Prices) -> Iterator[str]:
    n = expected.requests
    yield f"{asked.machine.assessor}: {counted(n, 'request')} to {asked.machine.model}, " + (
        f"about {expected.tokens_in:,.0f} tokens of prompts and {expected.tokens_out:,.0f} of answers "
        f"(4 characters a token){_cost(expected, prices)}"
    )
    if asked.known:
        yield f"{counted(asked.known, 'request')} not needed: the replies are stored"
    if asked.repeated:
        yield f"{counted(asked.repeated, 'request')} sent before, without a reply that was stored: sent again"
    if asked.images:
        yield f"{counted(asked.images, 'task')} left to people, since they show images"


def _cost(tokens: Forecast, prices: Prices) -> str:
    amount = prices.cost(tokens.tokens_in, tokens.tokens_out)
    shown = f"{amount:,.2f}" if amount >= 1 else f"{amount:.2g}"
    return f", cost about {shown}" if prices.tokens_in or prices.tokens_out else ""


def _agreed() -> bool:
    """Ask whether to go on, on a terminal; elsewhere the command is its own answer."""
    return not on_a_terminal() or click.confirm("send the requests?", err=True)


def _ask(
    asked: Agenda, store: Store, endpoint: Endpoint, bill: tuple[Forecast, Prices], concurrency: int, out: Output
) -> None:
    """Ask, with a bar, and write the summary; also after an interruption."""
    from venire.judging.machines.asking import Tally, ask

    tally = Tally()
    try:
        with _bar(*bill, tally, quiet=out.quiet) as advance:
            asyncio.run(ask(asked, store, endpoint, concurrency=concurrency, tally=tally, advance=advance))
    finally:
        _summarise(asked, tally, bill[1], out)


@contextmanager
def _bar(expected: Forecast, prices: Prices, tally: Tally, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show how far asking is, and what it will cost by the tokens that were counted so far."""
    if quiet or not on_a_terminal():
        yield lambda: None
        return

    def told(_: object) -> str:
        found = expected.refined(tally)
        return f"{found.tokens_in:,.0f} tokens in all{_cost(found, prices)}" if tally.measured else ""

    with click.progressbar(
        length=expected.requests, label="asking", file=sys.stderr, show_pos=True, item_show_func=told
    ) as shown:
        yield lambda: shown.update(1, tally)


def _summarise(asked: Agenda, tally: Tally, prices: Prices, out: Output) -> None:
    unreadable = sum(tally.unreadable.values())
    record: dict[str, Any] = {
        "assessor": asked.machine.assessor,
        "model": asked.machine.model,
        "asked": tally.asked,
        "stored": tally.stored,
        "repeated": asked.repeated,
        "unreadable": unreadable,
        "failed": tally.failed,
        "left": len(asked.requests) - tally.stored - unreadable,
        "retries": tally.retries,
        "tokens_in": tally.tokens_in,
        "tokens_out": tally.tokens_out,
    }
    if prices.tokens_in or prices.tokens_out:
        record["cost"] = prices.cost(tally.tokens_in, tally.tokens_out)
    document = {**record, "prompt": asked.machine.prompts.hash, "reasons": dict(tally.unreadable)}
    out.finish("asked", lambda: Table.of([record]), document=document, notes=_summary_notes(tally))


def _summary_notes(tally: Tally) -> Iterator[str]:
    from venire.judging.machines.prompts import LONGEST_TEXT

    for why, n in tally.unreadable.most_common():
        replies = "1 reply" if n == 1 else f"{n:,} replies"
        yield f"{replies} could not be read ({why}): kept in the database, and the tasks stay without an answer"
    if tally.failed:
        yield f"{counted(tally.failed, 'request')} failed, and will be sent when the command is run again"
    if tally.cut:
        yield f"{counted(tally.cut, 'prompt')} with a document that was cut to its first {LONGEST_TEXT:,} characters"
    if tally.measured < tally.asked - tally.failed:
        yield f"the server counted the tokens of {tally.measured:,} replies only"
