# SPDX-License-Identifier: Apache-2.0
"""A Linux peer in a VLAN (IEEE 802.1Q)."""

from __future__ import annotations

from tests.lab import netns, paths

ID = 100


def join(pair: netns.Pair) -> None:
    """Moves the client into VLAN 100: its address to a VLAN interface of the kernel.

    A kernel without them gets programs of tc that tag all frames of the client's interface. Tags
    are in the frames, as on a wire: veth would keep them beside the frame, where XDP cannot see
    them.
    """
    ns, interface = pair.client, pair.client_if
    ns.run(["ethtool", "-K", interface, "txvlan", "off"])
    name = f"{interface}.{ID}"
    link = ["link", interface, "name", name, "type", "vlan", "id", ID]
    if ns.run(["ip", "link", "add", *link], check=False).returncode == 0:
        address = f"{pair.client_ip}/{pair.prefix_len}"
        ns.run(["ip", "address", "del", address, "dev", interface])
        ns.run(["ip", "address", "add", address, "dev", name])
        ns.run(["ip", "link", "set", name, "up"])
        return
    program = paths.built("vlan.bpf.o")
    ns.run(["tc", "qdisc", "add", "dev", interface, "clsact"])
    for hook, section in (("egress", "push"), ("ingress", "pop")):
        use = ["bpf", "da", "obj", program, "sec", section]
        ns.run(["tc", "filter", "add", "dev", interface, hook, *use])
