"""Threads, forked and spawned processes, and Ctrl-C."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

from dp_assay import Composition, DiscreteGaussian, Release

NOISE = DiscreteGaussian(10**6)


def draw(n: int) -> bytes:
    return NOISE.sample(n).tobytes()


def ask(delta: str) -> object:
    return Release("su-su-wang-2025").epsilon(delta, digits=6)


def large_and_small(n: int) -> tuple[bytes, object, list[float]]:
    """A sample on many threads, an answer, and a curve: everything that uses the threads of the library."""
    curve = DiscreteGaussian(5, 10).profile(numpy.linspace(0, 10, 50), digits=6)[1]
    return draw(n), ask("1e-10"), curve.tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("n", [100, 1_000_000])
def test_forked_processes_work_and_repeat_no_noise(n: int) -> None:
    before = large_and_small(n)  # the parent's threads and sampler exist
    with multiprocessing.get_context("fork").Pool(3) as pool:
        children = pool.map_async(large_and_small, [n] * 6, chunksize=1).get(timeout=200)
    after = large_and_small(n)
    assert len({noise for noise, _, _ in [before, *children, after]}) == 8
    assert all(rest == list(before[1:]) for rest in ([epsilon, curve] for _, epsilon, curve in children))


def test_spawned_processes_take_accounts_as_arguments() -> None:
    accounts = [DiscreteGaussian(5, 10), Composition(["5x10", "3x2"])]
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for account in accounts:
            assert pool.submit(type(account).epsilon, account, "1e-9").result(timeout=200) == account.epsilon("1e-9")


def test_threads_get_the_same_answers_and_different_noise() -> None:
    account = DiscreteGaussian(5, 10)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: account.epsilon("1e-9"), range(40)))
        noise = list(pool.map(lambda _: draw(200), range(40)))
        large = list(pool.map(lambda _: draw(200_000), range(8)))
    assert set(answers) == {account.epsilon("1e-9")} and len(set(noise)) == 40 and len(set(large)) == 8


def test_other_threads_run_meanwhile() -> None:
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    Release("su-su-wang-2025").profile(numpy.linspace(0, 30, 30_000))
    done.set()
    other.join()
    # With the interpreter's lock held, hardly any.
    assert counted > 10


# Each takes minutes if it is not interrupted.
LONG = {
    "one answer": "Composition(['5.1x10', '7.3x11', '9.7x13', '3.3x7', '11.9x3', '13.7x5']).epsilon('1e-10', digits=100)",
    "a curve": "Release('dhc-persons-us').profile(range(1, 500))",
    "samples": "DiscreteGaussian(5).fill(array) or [DiscreteGaussian(5).fill(array) for _ in range(10**6)]",
}


@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_interrupts(what: str) -> None:
    program = f"""
import time, numpy
from dp_assay import Composition, DiscreteGaussian, Release
array = numpy.zeros(10_000_000, dtype="int64")
print("started", flush=True)
try:
    {LONG[what]}
except KeyboardInterrupt:
    # The next request is still answered.
    assert DiscreteGaussian(5, 10).epsilon("1e-11", digits=6).met
    print("interrupted", flush=True)
    import os
    os._exit(0)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "started\n"
    time.sleep(1)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.stdout.read() == "interrupted\n"
    child.wait(timeout=60)
    # At once; the machine may be busy.
    assert time.monotonic() - began < 15
