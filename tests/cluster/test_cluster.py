"""`assay tabulate --cluster` on a real cluster, which scripts/tests/test-cluster starts: the same bytes as the release of one machine, or a clear
error without a draw."""

import contextlib
import gzip
import os
import pathlib
import select
import shutil
import signal
import socket
import ssl
import statistics
import subprocess
import threading
import time

import pyarrow
import pyarrow.parquet
import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "data/examples"
ASSAY = os.environ["ASSAY"]
ADDRESS = os.environ["ASSAY_CLUSTER"]
WORKERS = {int(worker) for worker in os.environ["ASSAY_CLUSTER_WORKERS"].split()}
KILLS = int(os.environ.get("ASSAY_CLUSTER_KILLS", "3"))
GUARDED = os.environ["ASSAY_CLUSTER_GUARDED"]
GUARDED_PID = int(os.environ["ASSAY_CLUSTER_GUARDED_PID"])
TOKEN = os.environ["ASSAY_CLUSTER_TOKEN"]
# Repetitions of the example's persons, so that a count takes some seconds.
REPEATED = 1000


class World:
    """A folder that workers see, with persons in it."""

    def __init__(self, folder, repeated):
        self.folder = folder
        headings, rows = (EXAMPLES / "safetab/person-records.txt").read_text().split("\n", 1)
        self.persons = folder / "persons.txt"
        self.persons.write_text(headings + "\n" + rows * repeated)

    def words(self, out, persons=None, cluster=None, more=()):
        example = EXAMPLES / "safetab"
        words = [ASSAY, "tabulate", "--config", example / "config.json", "--spec", example]
        words += ["--geography", example / "GRF-C.txt", "--insecure-seed", "19"]
        words += ["--persons", persons or self.persons, "--out", self.folder / out]
        return words + self.cluster(cluster) + list(more)

    def households(self, out, cluster=None):
        example = EXAMPLES / "safetab"
        for name in ["household-records.txt", "pop-group-totals.txt"]:
            shutil.copy(EXAMPLES / "safetab-h" / name, self.folder)
        words = [ASSAY, "tabulate", "--config", EXAMPLES / "safetab-h/config.json", "--spec", example]
        words += ["--geography", example / "GRF-C.txt", "--insecure-seed", "7"]
        words += ["--households", self.folder / "household-records.txt", "--totals", self.folder / "pop-group-totals.txt"]
        return words + ["--out", self.folder / out] + self.cluster(cluster)

    def cluster(self, address):
        return ["--cluster", address, "--shared", self.folder] if address else []

    def counts(self):
        """Whether a run is counting: its folder in the shared one has the public tables."""
        return any(self.folder.glob("assay-*.part/blocks.parquet"))

    def release(self, out):
        """All files of a release with their contents."""
        files = [path for path in (self.folder / out).rglob("*") if path.is_file()]
        assert len(files) > 2
        return {str(path.relative_to(self.folder / out)): path.read_bytes() for path in files}

    def check_unspent(self, out):
        left = [name for name in os.listdir(self.folder) if ".part" in name]
        assert left == [], left
        for name in [out, f"{out}.log", f"{out}.key"]:
            assert not (self.folder / name).exists(), name


@pytest.fixture
def small(tmp_path):
    return World(tmp_path, 20)


@pytest.fixture
def large(tmp_path):
    return World(tmp_path, REPEATED)


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if name != "SPARK_CONNECT_AUTHENTICATE_TOKEN"}
    return kept | more


def begin(words, **more):
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(**more))


def done(words, **more):
    ended = subprocess.run(words, capture_output=True, text=True, env=environment(**more))
    assert ended.returncode == 0, ended.stderr


def refused(words, **more):
    """The error message of a run."""
    ended = subprocess.run(words, capture_output=True, text=True, env=environment(**more))
    assert ended.returncode == 2 and "panicked" not in ended.stderr, (ended.returncode, ended.stderr)
    return ended.stderr


def wait_until_counting(world, run):
    while not world.counts():
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.005)


def executors():
    """The processes of executors: children of the workers."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = pathlib.Path(f"/proc/{process}/stat").read_text()
            words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        state, parent = status.rsplit(")", 1)[1].split()[:2]
        if int(parent) in WORKERS and state != "Z" and b"ExecutorBackend" in words:
            found.append(int(process))
    return sorted(found)


def own_address():
    """An address of this machine that others can reach, if it has one; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"


def authority(folder, host):
    """A certificate of a host, and that of the authority that signed it."""

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    (folder / "names").write_text(f"subjectAltName=IP:{host}\nbasicConstraints=CA:FALSE\n")
    key = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=authority", "-days", "2")
    openssl("req", *key, "-keyout", "host.key", "-out", "host.request", "-subj", "/CN=host")
    signed = ["-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-days", "2"]
    openssl("x509", "-req", "-in", "host.request", *signed, "-extfile", "names", "-out", "host.pem")
    return folder / "authority.pem"


class EncryptedDoor:
    """A TLS proxy in front of Spark's plain endpoint."""

    def __init__(self, folder, host, endpoint):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / "host.pem", folder / "host.key")
        self.context.set_alpn_protocols(["h2"])
        self.endpoint = endpoint
        self.server = socket.create_server((host, 0))
        self.address = f"sc://{host}:{self.server.getsockname()[1]}"
        self.passed = 0

    def __enter__(self):
        threading.Thread(target=self.open, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.close()

    def open(self):
        while True:
            try:
                visitor, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(visitor,), daemon=True).start()

    def serve(self, visitor):
        """Forwards data in both directions. One thread, because two must not read and write one TLS connection."""
        with visitor, socket.create_connection(self.endpoint) as inner:
            try:
                with self.context.wrap_socket(visitor, server_side=True) as outer:
                    outer.setblocking(False)
                    while True:
                        if not outer.pending():
                            select.select([outer, inner], [], [])
                        with contextlib.suppress(ssl.SSLWantReadError):
                            if not (said := outer.recv(1 << 16)):
                                return
                            self.passed += len(said)
                            inner.sendall(said)
                        if select.select([inner], [], [], 0)[0]:
                            if not (said := inner.recv(1 << 16)):
                                return
                            outer.setblocking(True)
                            outer.sendall(said)
                            outer.setblocking(False)
            except OSError:
                return


def test_an_encrypted_connection_to_another_address(small, tmp_path_factory):
    done(small.words("one"))
    host = own_address()
    secrets = tmp_path_factory.mktemp("secrets")
    trusted = authority(secrets, host)
    known = {"SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN, "SSL_CERT_FILE": str(trusted)}
    port = int(GUARDED.rsplit(":", 1)[1])
    with EncryptedDoor(secrets, host, ("127.0.0.1", port)) as door:
        over_tls = f"{door.address}/;use_ssl=true"
        # Nothing is sent to a server whose certificate is not trusted.
        said = refused(small.words("out", cluster=over_tls), SPARK_CONNECT_AUTHENTICATE_TOKEN=TOKEN)
        assert "certificate" in said and TOKEN not in said, said
        assert door.passed == 0
        small.check_unspent("out")
        done(small.words("two", cluster=over_tls), **known)
        assert door.passed > 1000
        assert small.release("one") == small.release("two")
        # Neither counts nor the token are sent unencrypted to what may be another machine.
        if host != "127.0.0.1":
            passed = door.passed
            for more in [known, {}]:
                said = refused(small.words("out", cluster=door.address), **more)
                assert "a plain connection to another machine" in said, said
            said = refused(small.words("out", cluster=door.address, more=["--cluster-plain"]), **known)
            assert "a token is not sent over a plain connection" in said, said
            assert door.passed == passed
        small.check_unspent("out")
    # An endpoint without TLS.
    said = refused(small.words("out", cluster=f"{GUARDED}/;use_ssl=true"), **known)
    assert "nothing is spent" in said, said
    small.check_unspent("out")


def test_where_nobody_answers_nothing_is_spent(small):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    said = refused(small.words("out", cluster=f"sc://127.0.0.1:{port}"))
    assert "nobody answers" in said and "nothing is spent" in said, said
    small.check_unspent("out")
    # A server that accepts the connection and stays silent.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = refused(small.words("out", cluster=f"sc://127.0.0.1:{silent.getsockname()[1]}"))
    assert "does not answer within 10 s" in said, said
    small.check_unspent("out")


def test_records_of_all_forms_give_the_release_of_one_machine(small):
    done(small.words("one"))
    expected = small.release("one")
    headings, *rows = small.persons.read_text().splitlines()
    packed = small.folder / "packed.txt.gz"
    packed.write_bytes(gzip.compress(small.persons.read_bytes()))
    # Text with other line ends, and Parquet with another order of columns and nulls instead of Null.
    parts = small.folder / "parts"
    parts.mkdir()
    (parts / "a.txt").write_text("\n".join([headings, *rows[:3000]]) + "\n", newline="\r\n")
    for name, part in [("b.parquet", rows[3000:3500]), ("c.parquet", rows[3500:])]:
        columns = zip(headings.split("|"), zip(*(row.split("|") for row in part)))
        text = pyarrow.string()
        table = {heading: pyarrow.array([None if value == "Null" else value for value in values], text) for heading, values in columns}
        pyarrow.parquet.write_table(pyarrow.table(dict(reversed(table.items()))), parts / name)
    for number, persons in enumerate([small.persons, packed, parts]):
        done(small.words(f"two-{number}", persons=persons, cluster=ADDRESS))
        assert small.release(f"two-{number}") == expected, persons
    assert not list(small.folder.glob("*.part"))


def test_households_give_the_release_of_one_machine(small):
    done(small.households("one"))
    done(small.households("two", cluster=ADDRESS))
    assert small.release("one") == small.release("two")


def test_killed_executors_change_no_count(large):
    done(large.words("one"))
    expected = large.release("one")
    # Two undisturbed runs, because the first count is slower.
    for out in ["first", "second"]:
        run = begin(large.words(out, cluster=ADDRESS))
        wait_until_counting(large, run)
        start = time.monotonic()
        while large.counts():
            time.sleep(0.005)
        whole = time.monotonic() - start
        _, said = run.communicate()
        assert run.returncode == 0, said
        assert large.release(out) == expected
        print(f"\na count of {500 * REPEATED} persons: {whole:.1f} s", flush=True)

    identical, errors, late, seconds = 0, 0, 0, []
    for number in range(KILLS):
        moment = whole * (number + 0.5) / KILLS
        out = f"killed-{number}"
        run = begin(large.words(out, cluster=ADDRESS))
        wait_until_counting(large, run)
        start = time.monotonic()
        time.sleep(moment)
        while not (found := executors()) and large.counts():
            time.sleep(0.02)
        if found and large.counts():
            os.kill(found[number % len(found)], signal.SIGKILL)
        else:
            late += 1
        _, said = run.communicate()
        seconds.append(time.monotonic() - start)
        if run.returncode == 0:
            assert large.release(out) == expected, f"another release after a kill at {moment:.2f} s"
            identical += 1
            shutil.rmtree(large.folder / out)
        else:
            assert run.returncode == 2 and ("nothing is spent" in said or "count again" in said), said
            large.check_unspent(out)
            print(f"an error after a kill at {moment:.2f} s: {said}", flush=True)
            errors += 1
        # A killed executor is started again in seconds.
        while len(executors()) < len(WORKERS) and time.monotonic() < start + 120:
            time.sleep(0.1)
    print(
        f"{KILLS} executors killed, {late} of them after the count: {identical} identical releases, {errors} clear errors; "
        f"{min(seconds):.1f} to {max(seconds):.1f} s, median {statistics.median(seconds):.1f} s",
        flush=True,
    )
    assert late <= KILLS / 5 + 1


def test_a_count_that_takes_too_long_is_given_up(large):
    said = refused(large.words("out", cluster=ADDRESS, more=["--cluster-limit", "1"]))
    assert "took longer than 1 s" in said and "nothing is spent" in said, said
    large.check_unspent("out")


def test_ctrl_c_stops_the_count_and_leaves_nothing(large):
    before = pathlib.Path(os.environ["ASSAY_CLUSTER_LOG"]).stat().st_size
    run = begin(large.words("out", cluster=ADDRESS))
    wait_until_counting(large, run)
    time.sleep(2)
    assert large.counts()
    run.send_signal(signal.SIGINT)
    _, said = run.communicate()
    assert run.returncode == 130, said
    large.check_unspent("out")
    # The log of the server reports the stop: a job is "cancelled", an operation without a job is OPERATION_CANCELED.
    with open(os.environ["ASSAY_CLUSTER_LOG"]) as log:
        log.seek(before)
        text = log.read()
    assert any(word in text.lower() for word in ["cancelled", "operation_canceled", "interrupt"]), text[-3000:]


def test_a_server_asks_for_its_token_and_may_die(large):
    said = refused(large.words("out", cluster=GUARDED))
    assert "does not let this process in" in said, said
    said = refused(large.words("out", cluster=GUARDED), SPARK_CONNECT_AUTHENTICATE_TOKEN="hunter2")
    assert "does not let this process in" in said and "hunter2" not in said, said
    # From a file, and from the environment.
    token = large.folder / "token"
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o644)
    by_file = ["--cluster-token", token]
    assert "chmod 600" in refused(large.words("out", cluster=GUARDED, more=by_file))
    token.chmod(0o600)
    done(large.words("one"))
    done(large.words("two", cluster=GUARDED, more=by_file))
    assert large.release("one") == large.release("two")
    # Its server dies in the middle of a count.
    run = begin(large.words("out", cluster=GUARDED), SPARK_CONNECT_AUTHENTICATE_TOKEN=TOKEN)
    wait_until_counting(large, run)
    time.sleep(1)
    os.kill(GUARDED_PID, signal.SIGKILL)
    _, said = run.communicate()
    assert run.returncode == 2 and "nobody answers" in said and "nothing is spent" in said, said
    large.check_unspent("out")
