"""Runs a program in a terminal and types what a person would.

Arguments: pairs of what is waited for and what is then typed, `--`, the command. Everything the
terminal showed goes to stdout; the exit code is the program's.
"""
import os
import pty
import sys

split = sys.argv.index("--")
script = list(zip(sys.argv[1:split:2], sys.argv[2:split:2]))
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[split + 1], sys.argv[split + 1:])
seen, read = b"", 0
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    seen += chunk
    while script and script[0][0].encode() in seen[read:]:
        wanted, typed = script.pop(0)
        read = seen.index(wanted.encode(), read) + len(wanted)
        os.write(terminal, typed.encode() + b"\n")
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
