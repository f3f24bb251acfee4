"""What a worker does with a MariaDB or MySQL: statements of ours, with quoted names, values as hexadecimal literals."""
