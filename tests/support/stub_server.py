"""An HTTP server for tests, which prints nothing when a client closes its connection early."""

import sys
from http.server import ThreadingHTTPServer


class StubServer(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
