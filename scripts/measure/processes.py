"""Shared by scripts that run whole processes and write tables into the guide."""

import os
import subprocess
import tempfile
import time


def asked(command, most_seconds):
    """Runs a command: the seconds until its end, megabytes of memory, its exit status (None if it was stopped after that many seconds)
    and its output."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        began = time.monotonic()
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > began + most_seconds:
                process.kill()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                return most_seconds, usage.ru_maxrss / 1024, None, ""
            time.sleep(0.001)
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return seconds, usage.ru_maxrss / 1024, process.returncode, out.read()


def with_table(text, name, headings, rows):
    """The text of a page with these rows in its table of this name; all columns except the first are numbers."""
    head, rest = text.split(f"<!-- table: {name} -->\n")
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    table = "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
    return f"{head}<!-- table: {name} -->\n{table}{rest[rest.index('<!-- end of table -->') :]}"
