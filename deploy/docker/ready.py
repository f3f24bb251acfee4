"""For engines that ask a container how it is: exit 0 when the address on this machine answers."""

import sys
from http.client import HTTPConnection

port, path = sys.argv[1:]
try:
    connection = HTTPConnection("127.0.0.1", int(port), timeout=4)
    connection.request("GET", path)
    sys.exit(connection.getresponse().status != 200)
except OSError as error:
    sys.exit(f"port {port}: {error}")
