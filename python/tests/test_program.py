"""Commands of the program as functions, and every option of the program in the package."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, program

import dp_assay
from dp_assay import (
    Approximate,
    BoundedRange,
    Composition,
    DiscreteGaussian,
    DiscreteLaplace,
    Enclosure,
    Laplace,
    NoiseTable,
    Pair,
    PerturbationTable,
    Pure,
    RandomRounding,
    RandomizedResponse,
    Release,
    Staircase,
    TruncatedLaplace,
    UnknownKey,
    dp_sgd,
    nmf,
    risk,
    topdown,
)
from dp_assay import program as commands

if program() is None:
    pytest.skip("the package was built in place, without the program", allow_module_level=True)

ACCOUNT = dp_assay.Account

# Where the package has each command of the program: functions whose arguments are its options.
PLACES: dict[str, list[Callable[..., Any]]] = {
    "epsilon": [ACCOUNT.epsilon, commands.queries],
    "delta": [ACCOUNT.delta],
    "curve": [ACCOUNT.profile, commands.curve_of_sizes],
    "tradeoff": [ACCOUNT.tradeoff],
    "compare": [ACCOUNT.compare],
    "explain": [ACCOUNT.explain],
    "prove": [commands.prove],
    "ledger": [commands.ledger],
    "calibrate": [commands.calibrate],
    "allocate": [dp_assay.allocate],
    "report": [commands.report],
    "memo": [commands.memo],
    "noise": [dp_assay.add_noise],
    "sample": [dp_assay.IntegerNoise.sample],
    "audit": [commands.audit],
    "errors": [dp_assay.IntegerNoise.errors],
    "simulate": [commands.simulate],
    "releases": [dp_assay.releases],
    "schema": [commands.schema],
    "spine": [commands.spine],
    "measure": [topdown.measure],
    "estimate": [topdown.estimate, commands.published_counts],
    "nmf check": [nmf.check],
    "nmf estimate": [nmf.estimate, commands.nmf_estimate],
    "nmf audit": [commands.nmf_audit],
    "nmf codes": [commands.nmf_codes],
    "nmf compare": [commands.nmf_compare],
    "tabulate": [commands.tabulate],
    "tune": [commands.tune],
    "rehearse": [commands.rehearse],
    "risk single": [risk.Attack],
    "risk hierarchical": [risk.HierarchicalAttack],
    "risk bound": [commands.risk_bound],
    "risk curve": [commands.risk_curve],
    "risk postprocess": [commands.risk_postprocess],
    "risk sampler": [commands.risk_sampler],
    "verify": [commands.published],
    "deployments": [commands.deployments],
}

# Commands that the package has not, with the reason.
NO_COMMANDS = {
    "explore": "a page in a browser",
    "figures": "draws the figures of published papers; the chart of an account is plot()",
    "laws": "the list of mechanisms is that of the classes",
    "completions": "about a shell",
    "man": "pages of the manual of a shell",
}

_FORM = "the form of an answer, which is an object in Python"
_CHART = "a chart is plot()"
_LAW = "an object of the law's class"
_FRAME = "the caller reads the file into an array or a data frame"
# What is said otherwise in Python: of every command, of a mechanism, and of single commands.
EVERYWHERE = {name: _FORM for name in ("format", "csv", "json", "json-strings", "help", "version")}
SUBJECT = {
    "release": "an account, or its name or file",
    "level": "Release(name, levels)",
    "law": "the classes of laws",
    "noise-multiplier": "dp_sgd",
    "normalize": "NoiseTable(rows, normalize=True), and other classes of tables",
    "period": "PerturbationTable(rows, period=3)",
    "neighbors": "an argument of the account",
    "counts-as-given": "an argument of the account",
    "group": "an argument of the account",
    "repeat": "2 * account",
}
LAWS = {name: _LAW for name in ("discrete-gaussian", "discrete-laplace", "truncated-gaussian", "truncated-laplace", "staircase", "table", "randomized-response", "normalize")}
OTHERWISE: dict[str, dict[str, str]] = {
    "epsilon": {"queries": "program.queries"},
    "curve": {"over": "program.curve_of_sizes", "svg": _CHART},
    "tradeoff": {"points": "the array of alphas", "alpha": "the array of alphas", "svg": _CHART},
    "compare": {"svg": _CHART},
    "allocate": {"release": "queries and levels", "level": "levels", "of": "posteriors are those of events", "accuracy": "most_margin, most_squared_error of a query", "out": "Release.from_toml(found['account'])"},
    "noise": {
        **LAWS,
        "p-table": "keys belong to the records of an office: run the program",
        "keys": "keys belong to the records of an office: run the program",
        "period": "keys belong to the records of an office: run the program",
        "column": "the key of a dict from column to noise",
        "out": "what is returned",
        "force": "nothing is overwritten",
        "multiline": _FRAME,
    },
    "sample": {**LAWS, "count": "n"},
    "errors": {"discrete-gaussian": _LAW, "count": "counts", "column": _FRAME, "multiline": _FRAME},
    "releases": {"show": "Release(name).to_toml()", "new": "Release.from_toml of a text of your own"},
    "measure": {"resume": 'unfinished="resume"', "discard": 'unfinished="discard"'},
    "estimate": {"nmf": "dp_assay.nmf.estimate"},
    "risk single": {"release": "account.rho", "level": "account.levels[name].rho", "query": "rho of the query", "noisy": "posterior(noisy)", "digits": "of each method", "svg": _CHART},
    "risk hierarchical": {
        "noisy": "posterior(noisy)",
        "truth": "posterior of each noisy value",
        "prior-x2": "upper and known",
        "one-gaussian": "Attack(prior, rho) with the sum of rho",
        "digits": "of each method",
        "svg": _CHART,
    },
}


def _printed(*command: str) -> str:
    return subprocess.run([str(program()), *command, "--help"], capture_output=True, text=True, check=True).stdout


def _commands() -> list[str]:
    """All commands of the program, with those below them."""
    found = []
    for name in re.findall(r"^  ([a-z]+)  +[A-Z]", _printed(), re.MULTILINE):
        if name == "help":
            continue
        below = re.search(r"^Commands:\n(.*?)(?:\n\n\S|\Z)", _printed(name), re.DOTALL | re.MULTILINE)
        names = re.findall(r"^  ([a-z]+)  ", below[1], re.MULTILINE) if below else []
        found += [f"{name} {each}" for each in names if each != "help"] or [name]
    return found


def test_every_command_has_a_place_or_a_reason() -> None:
    found = _commands()
    assert len(found) > 35 and set(found) == {*PLACES, *NO_COMMANDS}


@pytest.mark.parametrize("command", PLACES)
def test_every_option_is_an_argument_or_has_a_reason(command: str) -> None:
    options = set(re.findall(r"^ {2,6}(?:-\w, )?--([a-z][a-z0-9-]*)", _printed(*command.split()), re.MULTILINE))
    arguments = {name.rstrip("_").replace("_", "-") for place in PLACES[command] for name in inspect.signature(place).parameters}
    reasons = {**EVERYWHERE, **SUBJECT, **OTHERWISE.get(command, {})}
    of_subject = "account" in arguments or "self" in arguments
    known = {*EVERYWHERE, *OTHERWISE.get(command, {}), *(SUBJECT if of_subject else ())}
    missing = options - arguments - known
    assert not missing, f"options of assay {command} that the package lacks, and that have no reason"
    assert all(reasons[name] for name in known)
    # No reason stays for an option that is gone.
    assert set(OTHERWISE.get(command, {})) <= options, set(OTHERWISE.get(command, {})) - options


def test_functions_have_no_options_that_the_program_lacks() -> None:
    for command, places in PLACES.items():
        for place in places:
            if getattr(place, "__module__", "") != commands.__name__:
                continue
            options = set(re.findall(r"--([a-z][a-z0-9-]*)", _printed(*command.split())))
            own = [name for name, each in inspect.signature(place).parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY]
            assert {name.rstrip("_").replace("_", "-") for name in own} <= options, command


ACCOUNTS = [
    DiscreteGaussian(5, 10),
    DiscreteGaussian(5, 10, 2, neighbors="bounded", group=2),
    Laplace(3) + Pure(1) + BoundedRange(1) + Approximate(1, "1e-6"),
    NoiseTable([(0, "3/5"), (1, "1/5"), (-1, "1/5")], 1, 1),
    Pair([("0.9", "0.1"), ("0.1", "0.9")], 2),
    PerturbationTable([(0, 0, "1/2"), (0, 1, "1/2"), (1, 0, "1/4"), (1, 1, "3/4")]),
    PerturbationTable([(0, 0, 1), (1, 0, "2/3"), (1, 3, "1/3"), (2, 0, "1/3"), (2, 3, "2/3")], 2, period=3),
    RandomRounding(3, 2),
    UnknownKey("discrete-laplace", 1, 10),
    RandomizedResponse(1, 3),
    TruncatedLaplace(1, 10),
    Staircase(1, 3, 2),
    dp_sgd(1, "0.01", 100),
    Release("su-su-wang-2025", "State"),
    Composition([Release("su-su-wang-2025"), DiscreteGaussian(5)]),
]


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda account: f"{type(account).__name__} {account.title}"[:40])
def test_an_account_is_the_same_one_for_the_program(account: Any) -> None:
    answer = commands.queries(account, delta="9/10", digits=10)["epsilon"]
    assert isinstance(answer, Enclosure) and answer.overlaps(account.epsilon("9/10"))


def test_a_certificate_of_an_account_is_written(tmp_path: Path) -> None:
    account = DiscreteGaussian(5, 10) + DiscreteLaplace("1/10")
    found = commands.prove(account, delta=1e-9, out=tmp_path / "certificate.json", checker=True, reproducible=True)
    assert found["epsilon"].overlaps(account.epsilon("1e-9")) and found["file"] == str(tmp_path / "certificate.json")
    checked = subprocess.run([sys.executable, "-I", tmp_path / "check.py", tmp_path / "certificate.json"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_documents_are_written(tmp_path: Path) -> None:
    run = dp_sgd(1, "0.01", 100)
    commands.report(run, delta="1e-5", out=tmp_path / "report.html", nist=tmp_path / "sheet.md")
    assert "Poisson samples" in (tmp_path / "report.html").read_text() and "Poisson samples" in (tmp_path / "sheet.md").read_text()
    memo = commands.memo(DiscreteGaussian(5, 10), out=tmp_path / "memo", delta="1e-9", date="2026-01-31")
    assert memo["date"] == "2026-01-31" and (tmp_path / "memo" / "SHA256SUMS").exists()


def test_draws_and_runs_are_audited() -> None:
    law = DiscreteGaussian(5)
    assert commands.audit(draws=law.sample(5000, insecure_seed=1), law=law)["verdict"] == "consistent"
    assert commands.audit(draws=[0] * 500, law="discrete-gaussian:5")["verdict"] == "deviates"
    runs = commands.audit(with_=[1] * 1000, without=[0] * 1000, claim="1:1e-6")
    assert runs["refuted"] is True and runs["delta"] > 0
    power = commands.audit(power=True, draws=10_000, law="pure:1.2", claim=["1", "1.2"])
    assert power["claims"][0]["power_lower"] > 0.9 and power["claims"][1]["power_lower"] is None


def test_published_counts_have_intervals(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("region_type,geoid,level,group,variable,count\nCOUNTY,09001,2,1003,T02001_003N,40\nCOUNTY,09001,2,1003,T02001_002N,80\n")
    answer = commands.published_counts(published_counts=file, release="ddhca-us", out=tmp_path / "out.csv", confidence=95)
    cell, sex = answer["counts"]
    assert (cell["lower"], cell["upper"], cell["reason"]) == (29, 51, None)
    assert sex["lower"] is None and "add all 4" in sex["reason"]
    assert (tmp_path / "out.csv").read_text().startswith("region_type,geoid,level")


def test_answers_of_other_commands() -> None:
    assert commands.deployments("google-mobility")["deployments"][0]["name"] == "google-mobility"
    assert commands.tune(rho="0.159", sizes=[5, 100])["stability"] == 9
    assert commands.schema("pl94-persons-us")["cells"] == 2016
    own = commands.curve_of_sizes(DiscreteGaussian(5, 10), from_=1, to=3, delta="1e-9")
    assert own["shift"] == [1, 2, 3]
    balance = commands.ledger("us-2020-persons", show=True)
    assert balance["ledger"] == "us-2020-persons" and json.dumps(balance, default=str)
    assert commands.nmf_codes("P5")["variables"][0]["variable"] == "P5_001N"


def test_safetab_from_python(tmp_path: Path) -> None:
    example = ROOT / "data" / "examples" / "safetab"
    given = {"config": example / "config.json", "spec": example, "geography": example / "GRF-C.txt"}
    budget = commands.tabulate(**given, dry_run=True, delta="1e-9")
    assert isinstance(budget, dict) and budget
    rehearsed = commands.rehearse(**given, trials=2, made_up=50, out=tmp_path / "rehearsal")
    assert isinstance(rehearsed, dict) and rehearsed


def test_refusals_name_arguments() -> None:
    account = DiscreteGaussian(5)
    refused: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: commands.prove(5), TypeError, "account of type int: expected an Account"),  # type: ignore[arg-type]
        (lambda: commands.prove(account, delta="1e-9"), ValueError, "out"),
        (lambda: commands.prove(account, foo=1), TypeError, r"prove\(\) got an unexpected keyword argument 'foo'"),  # type: ignore[call-arg]
        (lambda: commands.report(account, delta=2, out="x.html"), ValueError, "a probability 0 < delta < 1"),
        (lambda: commands.deployments("-x"), ValueError, "begins with a dash"),
        (lambda: commands.tune(rho=True), TypeError, "rho = True"),
        (lambda: commands.schema("nope"), ValueError, "unknown release"),
        (lambda: commands.audit(draws=[1, 1.5], law=account), ValueError, "expected one integer per line"),  # type: ignore[list-item]
    ]
    for call, kind, words in refused:
        with pytest.raises(kind, match=words) as error:
            call()
        assert " --" not in str(error.value) and "Usage" not in str(error.value)
