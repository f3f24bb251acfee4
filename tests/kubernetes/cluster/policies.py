"""NetworkPolicies → the packet filter's rules, purely.

Each pod that a policy selects gets a chain for that direction: what a rule allows returns, the rest is dropped.
A connection must pass both the chain of the pod it leaves and the chain of the pod it enters. A pod that is not
yet known here has no connections at all, so none starts before its policies hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, ip_network
from typing import Any, Literal

TABLE = "sandtable-policies"
Policy = Mapping[str, Any]
Selector = Mapping[str, Any]
Labels = Mapping[str, str]
Direction = Literal["Ingress", "Egress"]
_FAR_END = {"Ingress": ("from", "saddr"), "Egress": ("to", "daddr")}


@dataclass(frozen=True, slots=True)
class Pod:
    space: str
    ip: str
    labels: Labels = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    """The named ones."""


def ruleset(pods: Sequence[Pod], spaces: Mapping[str, Labels], policies: Sequence[Policy], net: str) -> str:
    """A script for `nft -f` that puts these rules in the place of the last ones, all at once."""
    chains: list[str] = []
    ways: dict[Direction, list[str]] = {"Ingress": [], "Egress": []}
    for number, pod in enumerate(pods):
        for direction, jumps in ways.items():
            holding = [one for one in policies if _selects(one, pod) and direction in _directions(one)]
            if holding:
                name = f"{direction.lower()}-{number}"
                allowed = [
                    f"{line} return"
                    for one in holding
                    for line in _allowed(one, direction, pod, pods, spaces)
                ]
                chains.append(_chain(name, [*allowed, "counter drop"]))
                jumps.append(f"{pod.ip} : jump {name}")
    router = str(next(ip_network(net).hosts()))
    known = ", ".join([router, *(pod.ip for pod in pods)])
    leaving = ["ip saddr != @known counter drop", *_dispatch("saddr", ways["Egress"])]
    entering = ["ip daddr != @known counter drop", *_dispatch("daddr", ways["Ingress"])]
    judge = ["ct state established,related accept", f"ip saddr {net} jump leaving"]
    body = [
        f"set known {{ type ipv4_addr; elements = {{ {known} }}; }}",
        *chains,
        _chain("leaving", leaving),
        _chain("entering", entering),
        _chain("forward", ["type filter hook forward priority -5;", *judge, f"ip daddr {net} jump entering"]),
        _chain("input", ["type filter hook input priority -5;", *judge]),
    ]
    return f"table ip {TABLE}\ndelete table ip {TABLE}\ntable ip {TABLE} {{\n" + "\n".join(body) + "\n}\n"


def _chain(name: str, rules: Sequence[str]) -> str:
    return f"chain {name} {{\n" + "".join(f"  {' '.join(rule.split())}\n" for rule in rules) + "}"


def _dispatch(end: str, jumps: Sequence[str]) -> list[str]:
    return [f"ip {end} vmap {{ {', '.join(jumps)} }}"] if jumps else []


def _selects(policy: Policy, pod: Pod) -> bool:
    same = policy["metadata"]["namespace"] == pod.space
    return same and matches(policy["spec"].get("podSelector") or {}, pod.labels)


def _directions(policy: Policy) -> Sequence[str]:
    spec = policy["spec"]
    return spec.get("policyTypes") or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


def _allowed(
    policy: Policy, direction: Direction, pod: Pod, pods: Sequence[Pod], spaces: Mapping[str, Labels]
) -> Iterator[str]:
    key, end = _FAR_END[direction]
    for rule in policy["spec"].get(direction.lower()) or []:
        for peer in rule.get(key) or [None]:
            others = [] if peer is None else _peers(peer, policy["metadata"]["namespace"], pods, spaces)
            where = _where(peer, end, others)
            if where is not None:
                served_by = [pod] if direction == "Ingress" else (others if peer else list(pods))
                yield from (f"{where} {port}" for port in _ports(rule.get("ports") or [], served_by))


def _where(peer: Mapping[str, Any] | None, end: str, others: Sequence[Pod]) -> str | None:
    """The addresses of the far end; None where there are none."""
    if peer is None:
        return ""
    if block := peer.get("ipBlock"):
        if not isinstance(ip_network(block["cidr"], strict=False), IPv4Network):
            return None
        but = ", ".join(block.get("except") or [])
        return f"ip {end} {block['cidr']}" + (f" ip {end} != {{ {but} }}" if but else "")
    return f"ip {end} {{ {', '.join(pod.ip for pod in others)} }}" if others else None


def _peers(
    peer: Mapping[str, Any], space: str, pods: Sequence[Pod], spaces: Mapping[str, Labels]
) -> list[Pod]:
    if "ipBlock" in peer:
        return []
    by_space = peer.get("namespaceSelector")
    by_pod = peer.get("podSelector") or {}

    def is_meant(pod: Pod) -> bool:
        there = pod.space == space if by_space is None else matches(by_space, spaces.get(pod.space, {}))
        return there and matches(by_pod, pod.labels)

    return [pod for pod in pods if is_meant(pod)]


def _ports(ports: Sequence[Mapping[str, Any]], served_by: Sequence[Pod]) -> Iterator[str]:
    if not ports:
        yield ""
    for one in ports:
        protocol = one.get("protocol", "TCP").lower()
        wanted = one.get("port")
        if wanted is None:
            yield f"meta l4proto {protocol}"
        elif isinstance(wanted, int):
            last = one.get("endPort", wanted)
            yield f"{protocol} dport {wanted}-{last}" if last > wanted else f"{protocol} dport {wanted}"
        else:
            for number in sorted({pod.ports[wanted] for pod in served_by if wanted in pod.ports}):
                yield f"{protocol} dport {number}"


def matches(selector: Selector, labels: Labels) -> bool:
    """As the API defines label selectors: an empty one matches everything."""
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(one, labels) for one in selector.get("matchExpressions") or [])


def _holds(expression: Mapping[str, Any], labels: Labels) -> bool:
    key, operator = expression["key"], expression["operator"]
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    inside = labels.get(key) in expression["values"] if key in labels else False
    return inside if operator == "In" else not inside
