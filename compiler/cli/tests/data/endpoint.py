"""Simulates an OpenAI-compatible endpoint on loopback: what a server may do, well or badly, by the model's name.

Prints its port, serves until its standard input closes. The behaviour, not the wit, of a model is simulated.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

asked = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model = body["model"]
        asked[model] = asked.get(model, 0) + 1
        if model == "busy" and asked[model] < 3:
            return self.refuse(429, "too many requests", {"Retry-After": "0"})
        if model == "broken":
            return self.refuse(500, "out of order")
        if model == "key" and self.headers.get("Authorization") != "Bearer sesame":
            return self.refuse(401, "no key")
        if model == "moved":
            return self.refuse(302, "", {"Location": "http://127.0.0.1:1/"})
        if model == "whole":
            return self.whole({"choices": [{"message": {"content": "All at once."}, "finish_reason": "stop"}]})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        getattr(self, f"model_{model}", self.model_echo)(body)

    def refuse(self, status, text, headers={}):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def whole(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def event(self, value):
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
        self.wfile.flush()

    def delta(self, finish=None, **delta):
        self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def done(self):
        self.event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 4}})
        self.wfile.write(b"data: [DONE]\n\n")

    def model_echo(self, body):
        """Says which keys it was sent and the last message."""
        self.wfile.write(b": a comment\n\n")
        said = f"keys {' '.join(sorted(body))}; turns {len(body['messages'])}; last {body['messages'][-1]['content']}"
        for start in range(0, len(said), 7):
            self.delta(content=said[start : start + 7])
        self.delta("stop")
        self.done()

    model_busy = model_key = model_echo

    def model_caller(self, body):
        """Calls the first tool, then says what it returned."""
        last = body["messages"][-1]
        if last["role"] == "tool":
            call = body["messages"][-2]["tool_calls"][0]
            assert call["id"] == last["tool_call_id"]
            self.delta(content=f"The result is {last['content']}.")
            self.delta("stop")
        else:
            assert body["tool_choice"] in ("required", "auto") or body["tool_choice"]["type"] == "function"
            name = body["tools"][0]["function"]["name"]
            self.delta(tool_calls=[{"index": 0, "id": "x", "function": {"name": name, "arguments": ""}}])
            for piece in ('{"expres', 'sion": "6 ', '* 7"}'):
                self.delta(tool_calls=[{"index": 0, "function": {"arguments": piece}}])
            self.delta("tool_calls")
        self.done()

    def model_stranger(self, body):
        """Calls what nobody offered."""
        self.delta(content="Well. ")
        self.delta(tool_calls=[{"index": 0, "function": {"name": "delete_everything", "arguments": "{}"}}])
        self.delta("tool_calls")
        self.done()

    def model_markup(self, body):
        """Writes a call as text."""
        if body["messages"][-1]["role"] == "tool":
            self.delta(content="Done.")
        else:
            for piece in ("Let me see <tool", '_call>{"name": "calculator", "arg', 'uments": {"expression": "2+2"}}</tool_call>'):
                self.delta(content=piece)
        self.delta("stop")
        self.done()

    def model_several(self, body):
        """Makes two calls at once."""
        if body["messages"][-1]["role"] == "tool":
            results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
            self.delta(content=" and ".join(results))
        else:
            for at, sum in enumerate(("1+1", "2+3")):
                arguments = json.dumps({"expression": sum})
                self.delta(tool_calls=[{"index": at, "function": {"name": "calculator", "arguments": arguments}}])
        self.delta("stop")
        self.done()

    def call_calculator(self, expression):
        arguments = json.dumps({"expression": expression})
        self.delta(tool_calls=[{"index": 0, "id": "x", "function": {"name": "calculator", "arguments": arguments}}])
        self.delta("tool_calls")
        self.done()

    def model_restless(self, body):
        """Calls as long as it is offered anything, then says what it was told last."""
        rounds = sum(message["role"] == "tool" for message in body["messages"])
        if "tools" in body:
            return self.call_calculator(f"{rounds} + 1")
        self.delta(content=f"1. After {rounds} rounds: {body['messages'][-1]['content']}")
        self.delta("stop")
        self.done()

    def model_silent(self, body):
        """Calls as long as it is offered anything, then says nothing."""
        if "tools" in body:
            return self.model_restless(body)
        self.delta("stop")
        self.done()

    def model_repeater(self, body):
        """Makes one call three times, written otherwise, then answers."""
        rounds = sum(message["role"] == "tool" for message in body["messages"])
        if rounds < 3:
            return self.call_calculator(["6 * 7", " 6  * 7 ", "6 * 7"][rounds])
        self.delta(content="It is 42.")
        self.delta("stop")
        self.done()

    def corrects(self, body, second):
        """Gives a wrong result, and another answer when told so."""
        last = body["messages"][-1]
        if last["role"] == "tool":
            self.delta(content="17 times 6 is 96.")
        elif body["messages"][-2]["role"] == "assistant" and "tools" not in body:
            self.delta(content=second.format(told=last["content"]))
        else:
            return self.call_calculator("17 * 6")
        self.delta("stop")
        self.done()

    def model_learner(self, body):
        self.corrects(body, "17 times 6 is 102.")

    def model_stubborn(self, body):
        self.corrects(body, "17 times 6 is 97, see https://made-up.example/x")

    def model_heap(self, body):
        """Makes two calls at once without numbers, one with its arguments as an object."""
        if body["messages"][-1]["role"] == "tool":
            return self.model_several(body)
        call = lambda arguments: {"id": "x", "function": {"name": "calculator", "arguments": arguments}}
        self.delta(tool_calls=[call({"expression": "1+1"})])
        self.delta(tool_calls=[call(json.dumps({"expression": "2+3"}))])
        self.delta("tool_calls")
        self.done()

    def model_namesake(self, body):
        """Writes an object that begins as a call would."""
        for piece in ('{"na', 'me": "An', 'na"}'):
            self.delta(content=piece)
        self.delta("stop")
        self.done()

    def model_parts(self, body):
        """Answers with a list of parts, and says why there is no more."""
        self.delta(content=[{"type": "text", "text": "A part. "}, {"type": "image"}])
        self.delta(content=None, refusal="I cannot.")
        self.delta("stop")
        self.done()

    def model_thinker(self, body):
        """Reasons among its text, in pieces that cut the marks."""
        for piece in ("<thi", "nk>It asks for ra", "in.</thi", "nk>\n\nIt rai", "ns.<|im_", "end|>"):
            self.delta(content=piece)
        self.delta("stop")
        self.done()

    def model_reasoner(self, body):
        """Reasons in a field of its own."""
        self.delta(reasoning_content="It asks for rain.")
        self.delta(content="It rains.")
        self.delta("stop")
        self.done()

    def model_stall(self, body):
        self.delta(content="It was a ")
        time.sleep(30)

    def model_cut(self, body):
        self.delta(content="It was a dark ")

    def model_liar(self, body):
        self.wfile.write(b"data: {oops\n\n")

    def model_failing(self, body):
        self.event({"error": {"message": "the model ran out of memory"}})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
