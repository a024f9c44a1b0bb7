# SPDX-License-Identifier: Apache-2.0
"""Options: packetdrill's own names, on the command line or at the top of a script."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.packetdrill.errors import NotSupported, ScriptError

# Options of packetdrill without a meaning here; accepted and ignored.
IGNORED = {"code_command", "code_format", "speed", "is_anyip", "send_omit_free", "debug", "verbose"}
IGNORED |= {"so_filename"}
REFUSED = {
    "wire_client": "there is no wire: the stack is in this process or this namespace",
    "wire_server": "there is no wire: the stack is in this process or this namespace",
    "fuzz": "packets are sent as they are written",
}
VERSIONS = ("ipv4", "ipv4-mapped-ipv6", "ipv6")


@dataclass(frozen=True)
class Config:
    ip_version: str = "ipv4"
    bind_port: int = 8080
    connect_port: int = 8080
    remote_ip: str = ""
    local_ip: str = ""
    gateway_ip: str = ""
    netmask_ip: str = ""
    mtu: int = 1500
    mss: int = 0
    tolerance_usecs: int = 4000
    tolerance_percent: float = -1.0  # of the back end
    tcp_ts_ecr_scaled: bool = False
    tcp_ts_tick_usecs: int = 0
    strict_segments: bool = False
    non_fatal: frozenset[str] = frozenset()
    dry_run: bool = False
    so_flags: str = ""
    init_scripts: str = ""
    code_sockopt: str = ""
    defines: dict[str, str] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """Returns the IP version of the packets."""
        return 6 if self.ip_version == "ipv6" else 4

    def with_defaults(self) -> Config:
        """Returns a copy with packetdrill's addresses, except its random local address."""
        four = self.version == 4
        return replace(
            self,
            local_ip=self.local_ip or ("192.168.0.10" if four else "fd3d:fa7b:d17d::10"),
            remote_ip=(self.remote_ip or ("192.0.2.1" if four else "2001:db8::1")).split("/")[0],
            gateway_ip=self.gateway_ip or ("192.168.0.1" if four else "fd3d:fa7b:d17d::1"),
            netmask_ip=self.netmask_ip or ("255.255.0.0" if four else "48"),
        )

    @property
    def prefix(self) -> int:
        if "." not in self.netmask_ip:
            return int(self.netmask_ip)
        return sum(bin(int(b)).count("1") for b in self.netmask_ip.split("."))


def number(name: str, value: str | None) -> int:
    try:
        return int(value or "", 0)
    except ValueError:
        raise ScriptError(f"bad --{name}: {value}") from None


def apply(config: Config, name: str, value: str | None) -> Config:
    """Returns the configuration with one more option."""
    if name in REFUSED or name.startswith("wire_"):
        raise NotSupported(f"--{name}: {REFUSED.get(name, REFUSED['wire_client'])}")
    if name in IGNORED:
        return config
    match name:
        case "ip_version":
            if value not in VERSIONS:
                raise ScriptError(f"bad --ip_version: {value}")
            return replace(config, ip_version=value)
        case "bind_port" | "connect_port":
            port = number(name, value)
            if not 0 < port < 65536:
                raise ScriptError(f"bad --{name}: {value}")
            return replace(config, **{name: port})
        case "mtu" | "mss" | "tolerance_usecs" | "tcp_ts_tick_usecs":
            return replace(config, **{name: number(name, value)})
        case "tolerance_percent":
            return replace(config, tolerance_percent=float(value or ""))
        case "remote_ip" | "local_ip" | "gateway_ip" | "netmask_ip" | "init_scripts":
            return replace(config, **{name: value or ""})
        case "code_sockopt":
            return replace(config, code_sockopt=value or "")
        case "tcp_ts_ecr_scaled" | "strict_segments" | "dry_run":
            return replace(config, **{name: True})
        case "non_fatal":
            kinds = frozenset((value or "").replace(",", " ").split())
            return replace(config, non_fatal=kinds)
        case "so_flags":  # of the script and of the command line together
            return replace(config, so_flags=",".join(filter(None, [config.so_flags, value])))
        case "define":
            symbol, _, what = (value or "").partition("=")
            return replace(config, defines={**config.defines, symbol: what})
    raise ScriptError(f"there is no option --{name}")
