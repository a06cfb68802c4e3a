"""Speaks the Hub's protocol on loopback, for a folder of files: what `skillc model pull` asks of it, well or badly.

    python3 hub.py FOLDER

Prints its port, then a line for each file that is asked for (`REPO FILE START`), serves until its standard input closes.
By the repository's name: `acme/cut-N` breaks off the first N downloads of each large file half-way, `acme/liar` states
checksums of other files, `acme/rogue` states an ETag that is a path, `acme/gated` wants a token, `acme/empty` has no
graph; `acme/short` sends less than it states and `acme/endless` never stops, `acme/lost` redirects to nowhere; `acme/good`
does as it should.
"""

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

folder = Path(sys.argv[1])
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = 20_000
cuts = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.startswith("/api/models/"):
            return self.info("/".join(self.path.split("/")[3:5]))
        _, owner, name, resolve, revision, file = self.path.split("/", 5)
        path = folder / file
        if resolve != "resolve" or revision != "main" or not path.is_file():
            return self.refuse(404)
        self.serve(f"{owner}/{name}", file, path.read_bytes())

    def refuse(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def info(self, repo):
        if repo == "acme/gated" and self.headers.get("Authorization") != "Bearer sesame":
            return self.refuse(401)
        if not repo.startswith("acme/"):
            return self.refuse(404)
        files = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
        if repo == "acme/empty":
            files = [file for file in files if not file.endswith(".onnx")]
        body = json.dumps({"sha": COMMIT, "siblings": [{"rfilename": file} for file in files]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self, repo, file, data):
        large = len(data) > LARGE
        etag = hashlib.sha256(data).hexdigest() if large else hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        if repo == "acme/liar" and large:
            etag = hashlib.sha256(b"other").hexdigest()
        if repo == "acme/rogue":
            etag = "../../../../rogue"
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        start, end = int(first), int(last) + 1 if last else len(data)
        if start >= len(data):
            return self.refuse(416)
        if repo == "acme/lost":
            self.send_response(302)
            self.send_header("ETag", f'"{etag}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        part = data[start:end]
        if repo == "acme/short" and not last:
            part = part[: len(part) // 2]
        self.send_response(206)
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        endless = repo == "acme/endless" and not last
        self.send_header("Connection", "close") if endless else self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        while endless:
            try:
                self.wfile.write(bytes(1 << 16))
            except OSError:
                self.close_connection = True
                return
        if not last:
            print(repo, file, start, flush=True)
        name = repo.removeprefix("acme/cut-")
        if large and not last and name != repo:
            cuts[file] = cuts.get(file, 0) + 1
            if cuts[file] <= int(name):
                self.wfile.write(part[: len(part) // 2])
                self.wfile.flush()
                self.close_connection = True
                return
        self.wfile.write(part)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
