# SPDX-License-Identifier: MIT
"""A directory, served to a browser on this machine."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments, headers, **named):
        self.more_headers = headers
        super().__init__(*arguments, **named)

    def end_headers(self):
        for name, value in self.more_headers.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_):
        pass


class Server:
    """A directory, at self.url, which ends with a slash; with these headers in each answer. Use as a context."""

    def __init__(self, directory, headers=None):
        handler = partial(Handler, directory=str(directory), headers=headers or {})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
