"""Where the application is served, and under which address people reach it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from venire.errors import SettingError, Way

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def is_loopback(host: str) -> bool:
    """Return whether only programs on this computer reach a host."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, kw_only=True)
class Site:
    """A place on the network.

    address: what people type, such as https://judge.example.org; "" for that of host and port
    behind_proxy: another server receives the requests, under TLS, and hands them on
    certificate, key: files of TLS, where the application itself speaks it
    """

    host: str = "127.0.0.1"
    port: int = 8765
    address: str = ""
    behind_proxy: bool = False
    certificate: Path | None = None
    key: Path | None = None

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise SettingError("TLS needs both a certificate and its key", hint="give the file of each")
        if not (is_loopback(self.host) or self.certificate or self.behind_proxy):
            raise SettingError(
                f"host {self.host} can be reached from other computers, and nothing encrypts what they send",
                hint=[
                    Way("serve under TLS", tls_cert="FILE", tls_key="FILE"),
                    Way("put a server that speaks TLS in front, and say that it is there", behind_proxy=""),
                    Way("serve on this computer only", host="127.0.0.1"),
                ],
            )
        if not self.address and (self.behind_proxy or self.host in ("0.0.0.0", "::")):
            raise SettingError(
                "the address that assessors open is not known", hint=[Way("state it", address="https://...")]
            )
        if self.address and not (self.parts.scheme in ("http", "https") and self.parts.hostname):
            raise SettingError(f"address {self.address!r} is not one", hint="such as https://judge.example.org")
        if self.parts.scheme == "http" and not is_loopback(self.parts.hostname or ""):
            raise SettingError(f"address {self.address} is not encrypted", hint="it begins with https://")

    @property
    def parts(self) -> SplitResult:
        """The address, in its parts."""
        return urlsplit(self.root)

    @property
    def root(self) -> str:
        """What links begin with, without a slash at the end."""
        scheme = "https" if self.certificate else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.address.rstrip("/") or f"{scheme}://{host}:{self.port}"

    @property
    def secure(self) -> bool:
        """Whether people reach the application under TLS."""
        return self.root.startswith("https:")

    def is_host(self, name: str) -> bool:
        """Return whether a request's Host names this site, by any name of the loopback if it is served there."""
        if name.lower() == self.parts.netloc.lower():
            return True
        host, _, port = name.rpartition(":") if name.rpartition(":")[2].isdigit() else (name, "", "")
        ours = str(self.parts.port or "")
        return is_loopback(self.parts.hostname or "") and host.lower() in LOOPBACK and port == ours

    def cookie(self, study: str, role: str) -> str:
        """Return the name of a cookie: of its own for each study, since ports do not separate cookies."""
        return f"{'__Host-' if self.secure else ''}venire-{study}{role}"
