"""The machine beyond the cluster: it answers HTTP with the address it was asked from.

Run in a network namespace of its own. A pod that reaches it has a way out; "no way out" means something only
where the same pod, without a policy, does reach it.
"""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        said = f"outside, asked by {self.client_address[0]}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)


if __name__ == "__main__":
    ThreadingHTTPServer(("0.0.0.0", 80), Answer).serve_forever()
