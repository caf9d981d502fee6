"""venire judge serve: the web application of a study."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from venire.cli import options as declare
from venire.cli.judge.arguments import DATABASE, database_option, study_argument
from venire.errors import VenireWarning
from venire.results import counted

if TYPE_CHECKING:
    from venire.judging.store import Store
    from venire.judging.web.site import Site

PLACE = "Place"
EXAMPLES = """\b
Examples:
  venire judge serve demo.toml
  venire judge serve demo.toml --database postgresql://localhost/demo
  venire judge serve demo.toml --behind-proxy \\
    --address https://judge.example.org
"""


@click.command("serve", cls=declare.Command, epilog=EXAMPLES)
@study_argument
@declare.option("--host", section=PLACE, default="127.0.0.1", metavar="NAME", help="Where to listen.")
@declare.option(
    "--port", section=PLACE, default=8765, type=click.IntRange(0, 65535), metavar="N", help="Port; 0 for any."
)
@declare.option(
    "--address",
    section=PLACE,
    default="",
    show_default=False,
    metavar="URL",
    help="What assessors open, such as https://judge.example.org; only requests to it are answered.  [default: host "
    "and port]",
)
@declare.flag("--behind-proxy", section=PLACE, help="Another server on this computer speaks TLS and hands requests on.")
@declare.option(
    "--tls-cert", section=PLACE, type=click.Path(path_type=Path), metavar="FILE", help="Certificate, to speak TLS."
)
@declare.option("--tls-key", section=PLACE, type=click.Path(path_type=Path), metavar="FILE", help="Its key.")
@database_option
@declare.flag(
    "--new-version",
    section=DATABASE,
    help="Continue although scale, aspects or guidelines have changed since the first answer.",
)
def command(
    *,
    study: str,
    host: str,
    port: int,
    address: str,
    behind_proxy: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    database: str | None,
    new_version: bool,
) -> None:
    """Serve STUDY.toml to its assessors and its organiser, until it is stopped.

    It prints the link of the organiser's page, from which assessors are invited.  Other computers reach it only under
    TLS: with a certificate (--tls-cert, --tls-key), or through a server that has one (--behind-proxy).
    """
    from venire.judging.store import Store
    from venire.judging.study_files import read_study
    from venire.judging.web.serving import serve
    from venire.judging.web.site import Site

    site = Site(host=host, port=port, address=address, behind_proxy=behind_proxy, certificate=tls_cert, key=tls_key)
    read, tasks = read_study(study)
    with Store.open(read, tasks, database, new_version=new_version) as store, warnings.catch_warnings():
        warnings.simplefilter("ignore", VenireWarning)  # few labels are nothing to warn of while people judge
        serve(store, site, lambda place: _announce(store, place))


def _announce(store: Store, place: Site) -> None:
    tasks, people = counted(len(store.tasks), "task"), counted(len(store.study.people), "assessor")
    click.echo(f"{store.study.title or store.study.name}: {tasks}, {people}")
    click.echo(f"Organiser: {place.root}/join/{store.organiser_token()}")
    click.echo("Assessors are invited from the organiser's page.  Stop with Ctrl-C.")
