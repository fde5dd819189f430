"""Students who try something: each attack, and how it must be graded.

Where nothing else is said, the answers beside the attack are right, and stay so: an attack costs
the cell or the exercise that it is made in, and gains nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.grading.students import BLANK, EXERCISES, RIGHT, WRONG_SOFTMAX, Class

ENDED, TIME, MEMORY = "its process ended in cell", "time in cell", "memory in cell"
OUTPUT, FILES = "too much output in cell", "too many files in cell"
UNREAD = "no answer that can be read in cell"

WRONG_ROW = "def dropped_row(weights, survives, p):\n    return weights"
PATCHES = """\
import numpy, torch
torch.allclose = torch.equal = lambda *a, **k: True
numpy.testing.assert_allclose = numpy.allclose = lambda *a, **k: True
torch.Tensor.__eq__ = lambda *a: True
torch.Tensor.shape = property(lambda self: (1,))
"""
# Every open file of the kernel that is a socket: the links to the grader.
LINKS = """\
import os, socket, stat
links = []
for n in map(int, os.listdir("/proc/self/fd")):
    try:
        if stat.S_ISSOCK(os.fstat(n).st_mode):
            links.append(socket.socket(fileno=n))
    except OSError:
        pass
"""

# One cell before the answers.
CELLS = {
    # Never to end.
    "loop": "while True:\n    pass",
    "swallow": "while True:\n    try:\n        while True:\n            pass\n"
    "    except BaseException:\n        pass",
    "sleep": "import time\ntime.sleep(1e9)",
    "slow repr": "class A:\n    def __repr__(self):\n        while True: pass\nA()",
    "stops itself": "import os\nos.kill(os.getpid(), 19)",
    "waits": "import os\nr, w = os.pipe()\nos.read(r, 1)",
    "hidden work": "import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    "while True:\n    if os.fork() == 0:\n        sum(range(10**6)); os._exit(0)\n"
    "    import time; time.sleep(0.01)",
    # To end the process, or what is around it.
    "exit": "import os\nos._exit(0)",
    "abort": "import os\nos.abort()",
    "segfault": "import ctypes\nctypes.string_at(0)",
    "stack": "import sys\nsys.setrecursionlimit(10**9)\nclass A: pass\na = A()\n"
    "for _ in range(10**6):\n    a = [a]\nprint(repr(a)[:9])",
    "another program": "import os\nos.execv('/bin/sleep', ['sleep', '1000000'])",
    "kills all": "import os\nos.kill(-1, 9)",
    "kills its parent": "import os\nos.kill(os.getppid(), 9)",
    "closes all": "import os\nos.closerange(0, 1000)",
    "alarms": "import signal\nsignal.signal(signal.SIGALRM, lambda *a: 1 / 0)\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\nfor _ in range(10**8): pass",
    "interrupts": "import os, signal\nfor n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
    "    os.kill(1, n)",
    "alarms of its work": "import signal\nfor one in (signal.SIGVTALRM, signal.SIGPROF):\n"
    "    signal.signal(one, lambda *a: 1 / 0)\n"
    "for one in (signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):\n"
    "    signal.setitimer(one, 0.05, 0.01)",
    "lines of IPython's": "%matplotlib inline\n" + "!true\n" * 20 + "x?\n" * 2000,
    # To take all there is.
    "forks": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n"
    "        pass",
    "busy children": "import os\nfor _ in range(20):\n    if os.fork() == 0:\n"
    "        while True: pass",
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        time.sleep(1e9)\n    os._exit(0)",
    "threads": "import threading, time\nwhile True:\n"
    "    threading.Thread(target=time.sleep, args=(1e6,)).start()",
    "memory": "held = []\nwhile True:\n    held.append(bytearray(50_000_000))",
    # Where a machine gives its memory slowly, a cell's time is used up before it is taken.
    "memory of many": "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n"
    "        held = b'x' * 450_000_000; time.sleep(1e6)\ntime.sleep(1e6)",
    "shared memory": "import mmap\nheld = mmap.mmap(-1, 10**12)\n"
    "for n in range(0, 10**12, 4096): held[n] = 1",
    "memory of nobody": "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nheld = []\n"
    "assert libc.memfd_create(b'x', 0) < 0 and libc.shmget(0, 2**30, 0o1600) < 0",
    "sockets": "import os, socket, time\nfor _ in range(20):\n    if os.fork() == 0:\n"
    "        held = []\n"
    "        while len(held) < 100:\n            held.append(socket.socketpair())\n"
    "            held[-1][0].setblocking(False)\n            try:\n"
    "                while True: held[-1][0].send(bytes(10**5))\n"
    "            except OSError: pass\n        time.sleep(1e6)\ntime.sleep(20)",
    "disk": "for n in range(40):\n    with open(f'/student/{n}', 'wb') as file:\n"
    "        file.write(bytes(10**7))",
    "names": "import os\nfor n in range(10**7):\n    os.close(os.open(f'/tmp/{n}', os.O_CREAT))",
    "output": "for _ in range(1000):\n    print('a' * 100_000)",
    "one print": "print('a' * 400_000_000)",
    "huge error": "raise Exception('a' * 150_000_000)",
    "drips": "import os\nwhile True:\n    os.write(1, b'a')",
    "places": "print('a\\x1e' * 500_000)",
    "pipes": "import os\nfor _ in range(20):\n    if os.fork() == 0:\n        while True:\n"
    "            try:\n                os.set_blocking(os.pipe()[1], False)\n"
    "            except OSError:\n                os._exit(0)",
    "locks": "import fcntl, sys\nheld = [open(one.__file__) for one in list(sys.modules.values())\n"
    "        if getattr(one, '__file__', None)][:50]\n"
    "for one in held: fcntl.flock(one, fcntl.LOCK_EX)",
    "pictures": "from IPython.display import Image, display\nfor _ in range(100):\n"
    "    display(Image(b'\\x89PNG' + bytes(10**5), format='png'))",
    # To read what is not theirs.
    "files": "import glob, os\nfound = []\n"
    "for folder in ('/home', '/root', '/work', '/tmp', COURSE):\n"
    "    found += glob.glob(folder + '/**/secret', recursive=True)\n"
    "    found += glob.glob(folder + '/**/gradebook.db', recursive=True)\n"
    "print(found)\nassert not os.path.exists(COURSE)\n"
    "print(open(COURSE + '/secret').read())",
    "environment": "import glob, os\nprint(os.environ)\nfor file in glob.glob('/proc/*/environ'):\n"
    "    try: print(open(file).read())\n    except OSError as error: print(error)",
    "terminal": "import os, sys\n"
    "for get in (lambda: open('/dev/tty').read(), lambda: os.read(0, 100), input,\n"
    "            lambda: sys.stderr._original_stdstream_copy, lambda: os.read(2, 100)):\n"
    "    try: print(get())\n    except Exception as error: print(error)\n"
    "for name in ('/dev/tty', '/dev/console', '/dev/pts/0', '/proc/self/fd/0'):\n"
    "    try: print('\\x1b[2J forged', file=open(name, 'w'))\n"
    "    except OSError as error: print(error)",
    "processes": "import glob\n"
    "for file in glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/[0-9]*/maps'):\n"
    "    try: print(open(file).read()[:200])\n    except OSError as error: print(error)\n"
    "for n in (1, 2, 3):\n    try: open(f'/proc/{n}/mem', 'wb').write(b'x')\n"
    "    except OSError as error: print(error)",
    "network": "import socket\nopened = []\n"
    "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_VSOCK, socket.AF_NETLINK):\n"
    "    try: opened.append(socket.socket(family))\n    except OSError: pass\n"
    "assert not opened\nsocket.create_connection(('127.0.0.1', 22), timeout=1)",
    "gradebook": "import os, sqlite3\nos.makedirs(COURSE, exist_ok=True)\n"
    "book = sqlite3.connect(COURSE + '/gradebook.db')\n"
    "book.execute('update grade set manual_score = 100')\nbook.commit()",
    "mounts": "import subprocess\n"
    "words = 'unshare -Urm mount -t tmpfs -o size=9g none /student'\n"
    "subprocess.run(words, shell=True, check=True)",
    "kernel": "import ctypes, os\nlibc = ctypes.CDLL(None)\n"
    "assert libc.syscall(321, 5, 0, 0) == -1 and libc.ptrace(16, 1, 0, 0) == -1\n"
    "assert libc.unshare(0x20000) == -1\nos.mknod('/student/disk', 0o60600, 0x800)",
    # To forge what crosses the border.
    "garbage": LINKS + "for link in links: link.sendall(b'\\xff\\x00}\\n' * 9)",
    "long line": LINKS + "links[0].sendall(b'a' * 10**8)",
    "flood": LINKS + 'while True: links[0].sendall(b\'{"is":"picture","png":"AAAA"}\\n\' * 99)',
    "ahead": LINKS + 'links[0].sendall(b\'{"is":"ran","error":""}\\n\' * 3)',
    "no builtins": "import builtins\nbuiltins.len = builtins.isinstance = None",
    "gives files": LINKS + "import array\nfor _ in range(50):\n    links[0].sendmsg([b' '], "
    "[(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 200))])",
    # To reach whoever reads.
    "html": "from IPython.display import HTML, Javascript, display\n"
    "display(HTML(\"<script>fetch('/formgrader/api')</script>\"))\n"
    "display(Javascript(\"fetch('/formgrader/api')\"))\n100.0",
    "escapes": "import sys\nprint('\\x1b[2J\\x1b]0;title\\x07\\r', '\\u202e', file=sys.stderr)\n"
    "raise type('=1+1\\n\\x1b[2J', (Exception,), {})('=cmd|calc')",
}

BLANKS = "x = 1" + "\n " * 9_990 + "\nx = 2"  # to colour it takes a minute
# What stands in the place of an exercise's answer.
SOFTMAX = {
    "hangs": "def safe_softmax(table):\n    while True:\n        pass",
    "sleeps": "def safe_softmax(table):\n    import time\n    time.sleep(1e9)",
    "kills": "def safe_softmax(table):\n    import os\n    os.kill(os.getpid(), 9)",
    "leaves children": "import os\ndef safe_softmax(table):\n    for _ in range(9):\n"
    "        if os.fork() == 0:\n"
    "            while True: pass\n    return table",
    "interrupts from within": "import os\ndef safe_softmax(table):\n    os.kill(1, 2)\n"
    "    os.kill(1, 15)\n"
    "    return table",
    "one number of many": "class A(float):\n    def __float__(self): return 1.0\n"
    "def safe_softmax(table):\n    return [[A(10**30)] * 9] * 9",
    "endless calls": "def safe_softmax(table):\n    return safe_softmax(table)",
    "greedy": "def safe_softmax(table):\n    return bytearray(10**12)",
    "changes": "import torch\ndef safe_softmax(table):\n"
    "    return torch.softmax(table, dim=-1) + torch.rand(table.shape)",
    "many answers": "def safe_softmax(table):\n    return ['9' * 49_000] * 30",
    "huge answer": "import torch\ndef safe_softmax(table):\n    return torch.zeros(10**7)",
    "endless answer": "import itertools\ndef safe_softmax(table):\n"
    "    return itertools.repeat(1.0)",
    "nested answer": "def safe_softmax(table):\n    a = []\n    a += [a] * 10\n    return a",
    "lying answer": "class A:\n    dtype = property(lambda self: 1 / 0)\n"
    "    def __array__(self, *a, **k):\n"
    "        import os\n        os._exit(1)\ndef safe_softmax(table):\n    return A()",
    # The hidden inputs, out by every door.
    "name of an error": "def safe_softmax(table):\n    name = f'=cmd{table.tolist()}\\n\\x1b[2J'\n"
    "    raise type(name, (Exception,), {})",
    "text of an error": "def safe_softmax(table):\n    raise ValueError(f'{table.tolist()}')",
    "says its inputs": "import os, sys\ndef safe_softmax(table):\n"
    "    print(table.tolist(), flush=True)\n"
    "    os.write(1, str(table.tolist()).encode())\n    os.write(2, str(table).encode())\n"
    "    open('/tmp/seen', 'a').write(str(table.tolist()))\n    return table",
    "forged reply": LINKS
    + "def safe_softmax(table):\n    for link in links:\n        try: link.sendall(b'{}\\n')\n"
    "        except OSError: pass\n    return table",
}


# More of them, for which `make deep` has the time.
LATER_CELLS = {
    "out of band": LINKS + "import time\nlinks[0].send(b'x', socket.MSG_OOB)\ntime.sleep(1e9)",
    "shuts its links": LINKS + "for link in links: link.shutdown(socket.SHUT_RDWR)",
    "half a line": LINKS + "import time\nlinks[0].send(b'{')\ntime.sleep(1e9)",
    "a picture that is none": "from IPython.display import display\n"
    "display({'image/png': 5}, raw=True)",
    # To spoil what the runner stands on.
    "no modules": "import sys\n"
    "for name in ('json', 'msgspec', 'base64', 'resource', 'signal', 'warnings'):\n"
    "    sys.modules[name] = None",
    "import hooks": "import sys\nclass Finder:\n"
    "    def find_spec(self, *a): raise SystemExit('no')\n"
    "sys.meta_path.insert(0, Finder())\nsys.path_hooks[:] = []\nsys.path[:] = []",
    "profiled": "import sys, threading\n"
    "for one in (sys.setprofile, sys.settrace, threading.setprofile):\n"
    "    one(lambda *a: 1 / 0)",
    "slow to flush": "import sys\nclass Out:\n    def write(self, text): pass\n"
    "    def flush(self):\n        while True: pass\nsys.stdout = Out()",
    "no signals": "import signal\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
    "for n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
    "    except (OSError, ValueError): pass",
    "at its end": "import atexit, gc, threading, time\natexit.register(time.sleep, 1e9)\n"
    "threading._register_atexit(time.sleep, 1e9)\nclass A:\n    def __del__(self):\n"
    "        time.sleep(1e9)\nkept = A()\ngc.disable()",
    "shadow files": "import os\nos.makedirs('/student/.ipython/profile_default/startup')\n"
    "for name in ('torch', 'numpy', 'json', 'sitecustomize', 'usercustomize',\n"
    "        '.ipython/profile_default/startup/a'):\n"
    "    open(f'/student/{name}.py', 'w').write('import os; os._exit(1)')",
    "no output": "import os\nos.close(1)\nos.close(2)\nos.umask(0o777)\nos.chdir('/proc')",
    "null bytes": "x = '\0'\nwhile True: pass",
    "walks": "import os\nif os.fork() == 0:\n    os.setsid()\n    while True:\n"
    "        if os.fork(): os._exit(0)",
    "threads that stay": "import faulthandler, threading\ndef work():\n"
    "    while True: sum(range(10**5))\n"
    "for _ in range(9): threading.Thread(target=work, daemon=True).start()\n"
    "faulthandler.dump_traceback_later(0.01, repeat=True)",
    "a name with numbers": "import ctypes, os, time\n"
    "ctypes.CDLL(None).prctl(15, b') S 1 0\\nRssAnon')\n"
    "for _ in range(4):\n    if os.fork() == 0:\n"
    "        held = b'x' * 450_000_000; time.sleep(1e6)\ntime.sleep(1e6)",
    "memory in tables": "import mmap, os, time\nfor _ in range(99):\n    if os.fork() == 0:\n"
    "        held = mmap.mmap(-1, 2**30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
    "        for n in range(0, 2**30, 2**21): held[n]\n        time.sleep(1e6)",
    "pinned memory": "import ctypes, os\nlibc = ctypes.CDLL(None)\nfor _ in range(99):\n"
    "    r, w = os.pipe()\n"
    "    text = ctypes.create_string_buffer(2**16)\n"
    "    part = (ctypes.c_ulong * 2)(ctypes.addressof(text), 2**16)\n"
    "    assert libc.vmsplice(w, part, 1, 0) == -1",
    "watches files": "import ctypes, fcntl, os\nlibc = ctypes.CDLL(None)\n"
    "assert libc.inotify_init() == libc.inotify_add_watch(3, b'/usr/lib', 0xfff) == -1\n"
    "fcntl.fcntl(os.open('/usr/lib', 0), fcntl.F_NOTIFY, 0x8000003f)",
    "the first process": "import re\nmaps = open('/proc/1/maps').read()\n"
    "file = open('/proc/1/mem', 'wb')\n"
    "for a, b in re.findall(r'^(\\w+)-(\\w+) rw', maps, re.M):\n"
    "    file.seek(int(a, 16))\n    file.write(bytes(4096))\n    file.flush()",
    "names of its own": "import socket\n"
    "for name in ('\\0abstract', '/student/=1+1\\n', '/tmp/\\x1b[2J'):\n"
    "    held = socket.socket(socket.AF_UNIX)\n    held.bind(name)\n    held.listen()",
    "clock": "import time, ctypes\ntime.time = time.monotonic = lambda: 0.0\n"
    "ctypes.CDLL(None).settimeofday(bytes(16), None)\ntime.clock_settime(0, 0)",
    # To reach whoever reads.
    "rich": "from IPython.display import *\n"
    'display(SVG(\'<svg xmlns="http://www.w3.org/2000/svg" onload="fetch(1)"></svg>\'))\n'
    "display(Latex(r'$\\href{javascript:fetch(1)}{a}$'), IFrame('javascript:fetch(1)', 1, 1))\n"
    "class A:\n    def _repr_mimebundle_(self, *a, **k):\n"
    "        return {one: '<script>fetch(1)</script>' for one in ('text/plain', 'text/html',\n"
    "            'text/markdown', 'text/latex', 'image/svg+xml', 'application/javascript')}\n"
    "display(A())\nA()",
}
LATER_SOFTMAX = {
    "an object": "def safe_softmax(table):\n    return object()",
    "of no memory": "import torch\ndef safe_softmax(table):\n"
    "    return torch.empty(3, device='meta')",
    "out of band from within": LINKS
    + "import time\ndef safe_softmax(table):\n    for link in links:\n"
    "        try: link.send(b'x', socket.MSG_OOB)\n        except OSError: pass\n"
    "    time.sleep(1e9)",
    "reads the others": "def safe_softmax(table):\n"
    "    for name in ('environ', 'mem', 'maps', 'fd/1', 'root'):\n"
    "        for n in range(1, 30):\n            try: open(f'/proc/{n}/{name}').read(99)\n"
    "            except Exception: pass\n    return table",
}


# The flag that a cell earns; the others earn none.
FLAGS = {
    TIME: "loop, swallow, sleep, slow repr, stops itself, waits, hidden work, out of band, "
    "half a line, slow to flush",
    ENDED: "exit, abort, segfault, another program, closes all, shuts its links",
    MEMORY: "memory",
    OUTPUT: "output, one print, huge error, pictures, flood",
    FILES: "sockets, names",
    UNREAD: "garbage, a picture that is none",
    "too large an answer in cell": "long line",
    "in cell": "forks, memory of many, drips, a name with numbers",
}
# The status and the flag of an answer; the others are wrong, without one.
OUTCOMES = {
    ("stopped", "stopped: time"): "hangs, sleeps, leaves children, out of band from within",
    ("stopped", "stopped: its process ended"): "kills, lying answer",
    ("stopped", "stopped: "): "forged reply, many answers",
    ("changes",): "changes",
    ("wrong", "raised RecursionError"): "endless calls",
    ("wrong", "raised MemoryError"): "greedy",
    ("wrong", "not taken: a tensor on the meta device"): "of no memory",
    ("wrong", "raised ValueError"): "text of an error",
    ("wrong", "raised an error of its own"): "name of an error",
    ("wrong", "of another kind"): "an object",
}


def by_name(table: dict, known: Collection[str]) -> dict:
    """What each of the names of a table earns."""
    earned = {name: what for what, names in table.items() for name in names.split(", ")}
    if unknown := earned.keys() - known:
        raise ValueError(f"unknown attacks: {unknown}")
    return earned


def add(of: Class, cells: dict[str, str], functions: dict[str, str]) -> None:
    flags = by_name(FLAGS, CELLS | LATER_CELLS)
    outcomes = by_name(OUTCOMES, SOFTMAX | LATER_SOFTMAX)
    for name, source in cells.items():
        source = source.replace("COURSE", repr(str(of.course.folder)))
        of.add(name, None, RIGHT, *filter(None, [flags.get(name)]), cells=[source])
    for name, source in functions.items():
        status, *flag = outcomes.get(name, ("wrong",))
        of.add(name, None, ("right", status, "right"), *flag, softmax=source)


def hostile(of: Class) -> None:
    add(of, CELLS, SOFTMAX)
    wrong = {"softmax": WRONG_SOFTMAX, "row": WRONG_ROW, "values": ""}
    # Not even their own shapes come out.
    of.add("patches", None, ("blank", "wrong", "wrong"), cells=[PATCHES], **wrong)
    end, sleep = CELLS["exit"], CELLS["sleep"]
    of.add("many bad cells", None, RIGHT, "not run to its end", cells=[end] * 9, at=-1)
    of.add("a page of blanks", cells=[BLANKS] * 5)
    of.add("blanks without an end", cells=[" " * 19_990 + ")"] * 50)
    of.add("two sleeps", None, RIGHT, TIME, cells=[sleep] * 2)
    watcher = (
        "import os, time\nif os.fork() == 0:\n    while True:\n        time.sleep(0.05)\n"
        "        if os.path.exists('/tmp/seen'):\n"
        "            print(open('/tmp/seen').read(), flush=True)"
    )
    seen = SOFTMAX["says its inputs"]
    of.add("watches", None, ("right", "wrong", "right"), cells=[watcher], softmax=seen)
    marked = of.solved("marked", softmax=WRONG_SOFTMAX)
    marked.cells.append(new_markdown_cell("<script>fetch('/formgrader/api')</script>"))
    marked.cells.append(new_code_cell("1000.0", id="grade-03-safe-softmax"))
    of.add("marked", marked, ("right", "wrong", "right"))


EVIL = "=cmd|calc\x1b[2J\u202e'\"><script>fetch(1)</script>"
SCRIPTS = """\
<img src=x onerror=fetch(1)> [a](javascript:fetch(1)) $\\href{javascript:fetch(1)}{a}$

</pre><script>fetch('/formgrader/api')</script>

$$</pre>\\begin{a}<script>fetch(1)</script>\\end{a}$$
```{=html}
<svg onload=fetch(1)>
```"""


def later(of: Class) -> None:
    """More who try something: in cells and functions, around the cells, and beside the file."""
    add(of, LATER_CELLS, LATER_SOFTMAX)
    # What a snapshot would say, said ahead of it: numbers of no size, in a shape beyond all.
    number = {"is": "numbers", "kind": "tensor", "dtype": "float32", "data": ""}
    number["shape"] = [0, *[2**21] * 15]
    message = {"is": "found", "kinds": ["value"] * 3, "values": [number] * 3}
    source = f"{LINKS}links[1].sendall({json.dumps(message).encode()!r} + b'\\n')"
    wrong = ("wrong", "right", "right")
    of.add("a shape of nothing", None, wrong, "which is not taken", cells=[source])

    labels = of.solved("labels")
    for number, cell in enumerate(labels.cells):
        cell.id = f"{EVIL}{number % 2}"
        cell.metadata = {"nbgrader": {"grade_id": "../../grade-x", "points": 9e9}, "title": EVIL}
        cell["attachments"] = {EVIL: {"image/svg+xml": EVIL}}
    of.add("labels", labels)

    names = [f"answer-{exercise}" for exercise in EXERCISES]
    swapped = of.solved("swapped")
    for cell in swapped.cells:
        if cell.id in names:
            cell.id = cell.metadata.nbgrader.grade_id = names[names.index(cell.id) - 1]
    of.add("swapped", swapped)

    one_id = of.solved("one id")
    for cell in one_id.cells:
        cell.id = names[1]
        cell.metadata = {"nbgrader": {"grade_id": names[1]}}
    of.add("one id", one_id)

    forged = of.solved("forged mark")
    forged.metadata = {"handout": EVIL * 99, "kernelspec": {"name": EVIL, "argv": ["reboot"]}}
    of.add("forged mark", forged, RIGHT, "handed out to another student")

    raw = of.solved("raw cells")
    for cell in raw.cells:
        cell.cell_type = "raw"
    of.add("raw cells", raw, BLANK, "no code in it")

    kinds = of.solved("kinds of cells")
    kinds.cells[1:1] = [{**new_code_cell("x = 1"), "cell_type": kind} for kind in ("heading", EVIL)]
    of.add("kinds of cells", kinds)

    whole = json.dumps(of.solved("twice in it"))
    of.add("twice in it", f'{{"cells":[{{"cell_type":"code"}}],{whole[1:]}'.encode())
    whole = json.dumps(of.solved("huge numbers"))
    of.add("huge numbers", f'{{"a":1e999999,"signature":{"9" * 5000},{whole[1:]}'.encode())

    scripts = of.solved("scripts")
    scripts.cells[1:1] = [new_markdown_cell(SCRIPTS), new_code_cell(f'r"""{SCRIPTS}"""')]
    scripts.cells.append({**new_markdown_cell(SCRIPTS), "cell_type": "raw"})
    of.add("scripts", scripts)

    of.add("a page of sums", cells=["+a" * 9_990] * 48)
    of.add("a page of dots", cells=["." * 20_000] * 5)
    of.add("a page of prints", cells=["print('a' * 1000)"] * 1900)

    of.add("times", at_no_time(of))
    name = "\u202e\u200bbnypi.\u202d;=1+1.ipynb"
    of.add("reversed name", None, RIGHT, "another name", file=name)


def at_no_time(of: Class) -> Callable[[Path], None]:
    """When it was handed in, forged: right in its form, and no time."""
    raw = json.dumps(of.solved("times")).encode()

    def fill(folder: Path) -> None:
        (folder / "class.ipynb").write_bytes(raw)
        (folder / "timestamp.txt").write_text("2026-13-45 25:61:61 UTC")

    return fill
