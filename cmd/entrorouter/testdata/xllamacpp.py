# Stands in for the package of that name where tools/live/serve.py is tested: a server that says it is healthy.
import http.server
import threading
import types


class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()


def CommonParams():
    return types.SimpleNamespace(model=types.SimpleNamespace(), cpuparams=types.SimpleNamespace(), cpuparams_batch=types.SimpleNamespace())


class Server:
    def __init__(self, p):
        self.serving = http.server.ThreadingHTTPServer((p.hostnames[0], p.port), Healthy)
        threading.Thread(target=self.serving.serve_forever, daemon=True).start()
