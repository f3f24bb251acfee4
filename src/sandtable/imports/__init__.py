"""Files that people bring, on their way to datasets: fetched from an address, read, asked about, registered."""
