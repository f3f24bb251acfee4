"""What SHOW GRANTS says is read as the server means it, and nothing of it is lost."""

from __future__ import annotations

import pytest

from sandtable_runner.live.mysql.grants import Grant, grants_of, roles_of


@pytest.mark.parametrize(
    ("line", "grants"),
    [
        (
            "GRANT SELECT, INSERT ON `shop`.* TO `u`@`%`",
            [("SELECT", "shop", "*"), ("INSERT", "shop", "*")],
        ),
        (
            "GRANT USAGE ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*GRANT ALL ON''x'",
            [("USAGE", "*", "*")],
        ),
        (
            "GRANT SELECT (`a`, `ON`), UPDATE (`b,c`, `d)`) ON `sh``op`.`t.ON x` TO `TO`@`%` WITH GRANT OPTION",
            [("SELECT", "sh`op", "t.ON x"), ("UPDATE", "sh`op", "t.ON x"), ("GRANT OPTION", "sh`op", "t.ON x")],
        ),
        (r"GRANT CREATE TEMPORARY TABLES ON `my\_shop`.* TO 'u'@'h'", [("CREATE TEMPORARY TABLES", "my_shop", "*")]),
        ("GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `u`@`%`", [("EXECUTE", "shop", "p")]),
        ("GRANT PROXY ON ''@'' TO 'root'@'localhost' WITH GRANT OPTION", [("PROXY", "", ""), ("GRANT OPTION", "", "")]),
        ("GRANT BACKUP_ADMIN,XA_RECOVER_ADMIN ON *.* TO `u`@`%`",
         [("BACKUP_ADMIN", "*", "*"), ("XA_RECOVER_ADMIN", "*", "*")]),
        ("GRANT `role`@`%` TO `u`@`%`", []),
        ("SET DEFAULT ROLE `role` FOR `u`@`%`", []),
        ("REVOKE INSERT ON `shop`.* FROM `u`@`%`", []),
        ("ALLOW EVERYTHING", [("UNKNOWN", "*", "*")]),
        ("", [("UNKNOWN", "*", "*")]),
        ("GRANT INSERT ON `shop`.*", [("UNKNOWN", "*", "*")]),
    ],
)  # fmt: skip
def test_a_line_is_what_it_says(line: str, grants: list[tuple[str, str, str]]) -> None:
    assert list(grants_of(line)) == [Grant(*grant) for grant in grants]


def test_roles_of_mysql_are_found() -> None:
    line = "GRANT `a ``x`@`%`,'b'@'host' TO `u`@`%`"
    assert roles_of(line) == [("a `x", "%"), ("b", "host")]
    assert roles_of("GRANT SELECT ON `shop`.* TO `u`@`%`") == []
