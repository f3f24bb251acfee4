"""MariaDB and MySQL: which type of ours each of their types becomes. Queries are not sent to them."""
