"""What runs in the student's kernel when the notebook has run: it answers calls.

Its text is sent behind that of encode.py. For each exercise a fork of the kernel, in which all the
notebook's names are, connects to `PATH` and answers line by line, in JSON:

    {"kinds": [name, …]}                      -> {"kinds": ["value" | "function" | "missing", …]}
    {"value": name}                           -> {"value": encoded}
    {"call": name, "arguments": [encoded, …]} -> {"value": encoded, "arguments": as it left them}

An argument that is a function lives on the other side: to call it is a line {"back": its number,
"arguments": […]}, to which {"value": …} is the reply. What happens here is the student's to
tamper with; it can change the student's own answers, and nothing else.
"""

import json
import os
import signal
import socket
import sys


def kind_of(names, name):
    if name not in names:
        return "missing"
    return "function" if callable(names[name]) and not hasattr(names[name], "dtype") else "value"


def answer(names, asked, back):
    """The reply to one line."""
    if "kinds" in asked:
        return {"kinds": [kind_of(names, name) for name in asked["kinds"]]}
    if "value" in asked:
        return {"value": encode(names[asked["value"]])}
    arguments = [decode(argument, back) for argument in asked["arguments"]]
    if not asked["flops"]:
        value = names[asked["call"]](*arguments)
        reply = {"value": encode(value)}
    else:
        from torch.utils.flop_counter import FlopCounterMode

        with FlopCounterMode(display=False) as counter:
            value = names[asked["call"]](*arguments)
        reply = {"value": encode(value), "flops": counter.get_total_flops()}
    # What went in as a function stays on the other side.
    return reply | {"arguments": [encode(argument) for argument in arguments]}


def serve(names, path):
    """Answer lines until the other side hangs up."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        lines = link.makefile("r", encoding="utf-8")

        def say(what):
            link.sendall((json.dumps(what) + "\n").encode())

        def back(number):
            def call(*arguments):
                say({"back": number, "arguments": [encode(one) for one in arguments]})
                reply = json.loads(lines.readline())
                if "error" in reply:
                    raise RuntimeError(reply["error"])
                return decode(reply["value"])

            return call

        for line in lines:
            try:
                reply = answer(names, json.loads(line), back)
            except BaseException as error:
                reply = {"error": type(error).__name__}
            say(reply)


def apart(names, path):
    """Serve in a fork, so that one exercise that hangs or ends its process costs no other."""
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            serve(names, path)
        finally:
            os._exit(0)
    return child
