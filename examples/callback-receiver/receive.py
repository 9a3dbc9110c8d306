import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import base64
import hashlib
import hmac
import time


def is_genuine(headers, body, secret, now=None):
    """The names in headers are in lower case, body contains the raw bytes, and now is in Unix seconds."""
    message, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    # Reject old messages, because an attacker could have recorded them to send them again.
    if not timestamp.isdigit() or abs((now or time.time()) - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in given)


BODY_BYTES_MAX = 1_000_000
# The gateway may send a message more than once. In production, store these ids in the database, together
# with the effects of the message.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if length > BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not is_genuine(headers, body, os.environ["WEBHOOK_SECRET"]):
            return self.answer(401)
        self.answer(204)
        if headers["webhook-id"] in seen:
            return
        seen.add(headers["webhook-id"])
        task = json.loads(body)
        said = task.get("video_url") or task.get("error", {}).get("message", "")
        print(task["id"], task["status"], said, flush=True)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
