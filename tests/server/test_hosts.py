"""Which names are ours, and which pages are: two pure judgements, as tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from sandtable.server.hosts import Authority, OwnNames, Refusal, judge_host, of_another_origin

ALLOWED = ("data.example", ".below.example", "*.wild.example", "10.9.9.9", "fd00::9")
HERE, HERE_6 = "192.168.1.5", "fe80::5%eth0"

HOSTS: dict[str, tuple[list[str], int]] = {
    "localhost": (["localhost"], 0),
    "a port": (["localhost:8000"], 0),
    "an empty port": (["localhost:"], 0),
    "another port": (["localhost:1"], 0),
    "a final dot": (["localhost."], 0),
    "upper case": (["LOCALHOST:8000"], 0),
    "loopback": (["127.0.0.1:8000"], 0),
    "the whole loopback network": (["127.8.9.10"], 0),
    "loopback of IPv6": (["[::1]:8000"], 0),
    "loopback of IPv6, written out": (["[0:0:0:0:0:0:0:1]"], 0),
    "loopback of IPv4 in IPv6": (["[::ffff:127.0.0.1]"], 0),
    "the address that was reached": (["192.168.1.5:8000"], 0),
    "that one in IPv6": (["[::ffff:192.168.1.5]"], 0),
    "a name of the settings": (["data.example"], 0),
    "that name with a dot, in capitals": (["Data.Example.:443"], 0),
    "below a name": (["a.b.below.example"], 0),
    "below a name with an asterisk": (["a.wild.example"], 0),
    "an address of the settings": (["10.9.9.9"], 0),
    "an IPv6 address of the settings": (["[fd00:0::9]"], 0),
    "the name that was bound": (["bound.example"], 0),
    "another name": (["evil.test"], 421),
    "the name itself is not below it": (["below.example"], 421),
    "nor with an asterisk": (["wild.example"], 421),
    "a name that ends alike": (["evildata.example"], 421),
    "a name that ends alike below": (["evilbelow.example"], 421),
    "a name that begins alike": (["data.example.evil.test"], 421),
    "below localhost": (["evil.localhost"], 421),
    "localhost below another": (["localhost.evil.test"], 421),
    "another address": (["192.168.1.6"], 421),
    "another address of IPv6": (["[::2]"], 421),
    "every address": (["0.0.0.0"], 421),
    "every address of IPv6": (["[::]"], 421),
    "loopback as a number": (["2130706433"], 421),
    "loopback in hex": (["0x7f000001"], 421),
    "loopback in octal": (["0177.0.0.1"], 421),
    "loopback in short": (["127.1"], 421),
    "loopback with a zero": (["127.0.0.01"], 421),
    "an underscore": (["my_service"], 421),
    "nothing": ([""], 400),
    "only a port": ([":8000"], 400),
    "only a dot": (["."], 400),
    "two dots": (["localhost.."], 400),
    "no header": ([], 400),
    "two headers": (["localhost", "localhost"], 400),
    "two hosts": (["localhost, localhost"], 400),
    "a user": (["user@localhost"], 400),
    "a user and a password": (["user:secret@localhost"], 400),
    "a scheme": (["http://localhost"], 400),
    "a path": (["localhost/runs"], 400),
    "a port that is a word": (["localhost:http"], 400),
    "a port that is too large": (["localhost:65536"], 400),
    "a negative port": (["localhost:-1"], 400),
    "IPv6 without brackets": (["::1"], 400),
    "brackets without IPv6": (["[localhost]"], 400),
    "brackets around IPv4": (["[127.0.0.1]"], 400),
    "an open bracket": (["[::1"], 400),
    "a zone": (["[fe80::5%eth0]"], 400),
    "a space": (["local host"], 400),
    "a tab": (["localhost\t"], 400),
    "not ASCII": (["loc\u00e4lhost"], 400),
    "full-width letters": (["\uff4c\uff4f\uff43alhost"], 400),
    "other digits": (["localhost:\u0668\u0660"], 400),
    "markup": (["<b>localhost"], 400),
    "as long as a name may be, and one more": (["a" * 255], 400),
}


@pytest.mark.parametrize(("given", "status"), HOSTS.values(), ids=HOSTS)
def test_hosts(given: list[str], status: int) -> None:
    found = judge_host("/runs", given, OwnNames(ALLOWED, "Bound.example"), HERE)
    assert (found.status if isinstance(found, Refusal) else 0) == status
    if isinstance(found, Refusal):
        assert found.problem.suggestion
        assert (found.problem.code == "UNAUTHORIZED") == (status == 421)


TARGETS = {"/": 0, "/runs": 0, "//evil.test/": 0, "/?a=http://evil.test": 0, "http://localhost/runs": 400}
TARGETS |= {
    "http://evil.test/": 400,
    "https://localhost/": 400,
    "*": 400,
    "localhost:80": 400,
    "runs": 400,
    "": 400,
}


@pytest.mark.parametrize(("target", "status"), TARGETS.items(), ids=list(TARGETS))
def test_a_target_is_a_path(target: str, status: int) -> None:
    """A name in the target would take precedence over the Host header."""
    found = judge_host(target, ["localhost"], OwnNames(()))
    assert (found.status if isinstance(found, Refusal) else 0) == status


def test_a_link_local_address_is_known_without_its_zone() -> None:
    assert judge_host("/", ["[fe80::5]"], OwnNames(()), HERE_6) == Authority("fe80::5", None)


@pytest.mark.parametrize("host", ["evil.test", "192.0.2.1", "localhost"])
def test_an_asterisk_switches_the_check_off(host: str) -> None:
    assert judge_host("/", [host], OwnNames(("*",))) == Authority(host, None)
    assert isinstance(judge_host("/", [f"{host}/"], OwnNames(("*",))), Refusal), (
        "what is no host is still refused"
    )


def test_a_refusal_names_the_setting() -> None:
    found = judge_host("/", ["Data.example:80"], OwnNames(()))
    assert isinstance(found, Refusal)
    assert "SANDTABLE_ALLOWED_HOSTS=data.example" in found.problem.suggestion


@given(st.text(max_size=300))
def test_nothing_but_a_name_of_ours_is_answered(text: str) -> None:
    found = judge_host("/", [text], OwnNames(()), HERE)
    if isinstance(found, Authority):
        assert found.host in ("localhost", HERE, "::1") or found.host.startswith("127.")
    else:
        assert text not in found.problem.message or not set(text) & set("<>\"'`\r\n\0")


CROSS = {"sec-fetch-site": "cross-site"}
LINK = {**CROSS, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}

# Headers; whether a page is opened; whether that is another's page.
PAGES: dict[str, tuple[dict[str, str], bool, bool]] = {
    "a program": ({}, False, False),
    "an address that was typed": ({"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}, False, False),
    "our page": ({"sec-fetch-site": "same-origin", "origin": "http://data.example"}, False, False),
    "our page, behind a proxy that changes Host": (
        {"sec-fetch-site": "same-origin", "origin": "https://elsewhere.example"},
        False,
        False,
    ),
    "our page that hides itself": ({"sec-fetch-site": "same-origin", "origin": "null"}, False, False),
    "our page in an old browser": ({"origin": "http://data.example"}, False, False),
    "by TLS that a proxy ended": ({"origin": "https://data.example"}, False, False),
    "in capitals": ({"origin": "HTTP://DATA.EXAMPLE"}, False, False),
    "with the default port": ({"origin": "http://data.example:80"}, False, False),
    "with the default port of TLS": ({"origin": "https://data.example:443"}, False, False),
    "our page by its address": ({"referer": "http://data.example/runs?a=b"}, False, False),
    "another site": ({"origin": "http://evil.test"}, False, True),
    "another port": ({"origin": "http://data.example:81"}, False, True),
    "the port of the other scheme": ({"origin": "http://data.example:443"}, False, True),
    "a name that begins alike": ({"origin": "http://data.example.evil.test"}, False, True),
    "a user that is called like us": ({"origin": "http://data.example@evil.test"}, False, True),
    "another scheme": ({"origin": "chrome-extension://data.example"}, False, True),
    "a file, or a frame without origin": ({"origin": "null"}, False, True),
    "a file that a person opened": ({"origin": "null", "sec-fetch-site": "none"}, False, True),
    "an empty origin": ({"origin": ""}, False, True),
    "said by the browser": (CROSS, False, True),
    "said by the browser, with our origin": ({**CROSS, "origin": "http://data.example"}, False, True),
    "another port, said by the browser": ({"sec-fetch-site": "same-site"}, False, True),
    "a word of the future": ({"sec-fetch-site": "galactic"}, False, True),
    "another page's script, by its address": ({"referer": "http://evil.test/"}, False, True),
    "an address that is none": ({"referer": "about:blank"}, False, True),
    "a link to a page": (LINK, True, False),
    "a link to something else": (LINK, False, True),
    "a link in an old browser": ({"referer": "http://mail.example/inbox"}, True, False),
    "a frame": ({**LINK, "sec-fetch-dest": "iframe"}, True, True),
    "an object": ({**LINK, "sec-fetch-dest": "object"}, True, True),
    "an image": ({**CROSS, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}, True, True),
    "a script's request for a page": (
        {**CROSS, "sec-fetch-mode": "cors", "sec-fetch-dest": "empty"},
        True,
        True,
    ),
    "a page that is fetched ahead": ({**LINK, "sec-purpose": "prefetch;prerender"}, True, True),
    "the same, as it was once said": ({**LINK, "purpose": "prefetch"}, True, True),
    "a script's request for a page in an old browser": ({"origin": "http://evil.test"}, True, True),
}


@pytest.mark.parametrize(("headers", "opens_page", "foreign"), PAGES.values(), ids=PAGES)
def test_pages(headers: dict[str, str], opens_page: bool, foreign: bool) -> None:
    own = Authority("data.example", None)
    assert of_another_origin(Headers(headers), own, opens_page=opens_page) == foreign


def test_two_origins_are_none() -> None:
    headers = Headers(raw=[(b"origin", b"http://data.example"), (b"origin", b"http://data.example")])
    assert of_another_origin(headers, Authority("data.example", None), opens_page=False)


@pytest.mark.parametrize(
    ("origin", "foreign"), [("https://data.example", False), ("http://data.example", True)]
)
def test_a_page_without_tls_is_not_ours_where_we_have_it(origin: str, foreign: bool) -> None:
    headers, own = Headers({"origin": origin}), Authority("data.example", None)
    assert of_another_origin(headers, own, opens_page=False, https=True) == foreign


@given(st.text(max_size=60))
def test_no_text_is_taken_for_our_origin_by_accident(text: str) -> None:
    foreign = of_another_origin(
        Headers(raw=[(b"origin", text.encode())]), Authority("x9", None), opens_page=True
    )
    assert foreign or "//x9" in text.lower()
