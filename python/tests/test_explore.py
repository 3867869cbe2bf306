"""The notebook cells that the page of `assay explore` exports: each gives the number that the page shows."""

from __future__ import annotations

import ast
import json
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from conftest import program, same

from dp_assay import Enclosure


@pytest.fixture(scope="module")
def ask() -> Iterator[Callable[..., Any]]:
    """Sends a request of the page, and returns the answer."""
    path = program()
    if path is None:
        pytest.skip("the package was built in place, without the program")
    server = subprocess.Popen([path, "explore", "--no-open"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip()

    def send(question: str, options: dict[str, Any], text: str | None = None) -> Any:
        body: dict[str, Any] = {"options": options}
        if text is not None:
            body["file"] = {"name": question, "text": text}
        request = urllib.request.Request(
            f"{address}api/{question}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.loads(reply.read(), parse_float=Decimal, parse_int=Decimal)

    yield send
    server.terminate()
    server.wait()


def run(answer: Any) -> Any:
    """The value of the last line of the cell, as a notebook shows it."""
    cell = next(one["text"] for one in answer["exports"] if one["kind"] == "cell")
    tree = ast.parse(cell)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


RELEASE = "su-su-wang-2025"


@pytest.mark.parametrize(
    "options",
    [
        {"release": RELEASE},
        {"release": RELEASE, "level": ["State", "US"], "neighbors": "bounded", "group": 2},
        {"release": RELEASE, "level": ["State"], "discrete-gaussian": ["5x3", "40/3x2@2"], "discrete-laplace": ["1/10"]},
        {"discrete-gaussian": ["5x3"], "neighbors": "bounded", "counts-as-given": True},
    ],
)
def test_epsilon(ask: Callable[..., Any], options: dict[str, Any]) -> None:
    answer = ask("epsilon", {**options, "delta": "1e-9", "digits": 10})
    assert same(run(answer), answer["answer"]["epsilon"])


def test_own_columns(ask: Callable[..., Any]) -> None:
    def query(columns: list[str], law: str, amount: str) -> dict[str, Any]:
        return {"level": "nation", "columns": columns, "law": law, "by_share": True, "amount": amount}

    # A name that needs care in TOML and in Python.
    name = 'year "of" \\ birth'
    queries = [query([], "discrete-gaussian", "1"), query([name, "sex"], "discrete-laplace", "2")]
    columns = [{"name": name, "size": "120"}, {"name": "sex", "size": "2"}]
    form = {"name": "mine", "neighbors": "bounded", "rho": "0.5", "levels": ["nation"], "columns": columns, "queries": queries}
    answer = ask("columns", {"delta": "1e-10", "digits": 12}, json.dumps(form))
    assert same(run(answer), answer["answer"]["epsilon"])


def test_bounds_factors_and_noise(ask: Callable[..., Any]) -> None:
    answer = ask("bound", {"release": RELEASE, "prior": "1/3", "delta": "1e-10", "digits": 8})
    assert same(run(answer)["correct_decision"], answer["answer"]["correct_decision_upper"])
    options = {"discrete-gaussian": ["5x3", "40/3x2@2"], "advantage": "0.3", "scale-all": True, "digits": 8}
    answer = ask("risk", options)
    assert run(answer) == Fraction(str(answer["answer"]["factor"]))
    answer = ask("calibrate", {"release": RELEASE, "level": ["State", "US"], "delta": "1e-11", "digits": 8})
    found = run(answer)
    for level in answer["answer"]["levels"]:
        assert found[level["name"]][0] == Fraction(str(level["calibrated_sigma2"])), level["name"]


def test_margins(ask: Callable[..., Any]) -> None:
    answer = ask("accuracy", {"release": RELEASE, "level": ["State"], "margin": ["State=3"], "delta": "1e-9"})
    assert run(answer).overlaps(Enclosure(answer["answer"]["epsilon"]["lower"], answer["answer"]["epsilon"]["upper"]))
    answer = ask("margins", {"release": RELEASE, "delta": "1e-10", "place": "US", "query": "each of ten", "count": 7, "digits": 8})
    found = run(answer)
    for errors, printed in zip(found, answer["answer"]["noise"], strict=True):
        assert errors["margin_95"] == printed["margin_95"]
