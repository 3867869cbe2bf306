"""Commands of the program `assay` as functions: certificates, memos, reports, published deployments, audits, SafeTab, spines and files of the Census Bureau.

The wheel contains the program, and each function runs one of its commands. Arguments are the options of the command with underscores; the
guide and `assay COMMAND --help` explain them. Numbers are exact as everywhere in the package, a list repeats an option, True sets a flag.
The answer is the program's JSON as a dict, with an Enclosure in place of each lower and upper end. A request that is refused raises
ValueError; a check that ends in "no" does not, and its answer says so.

account: an Account, or the name or file of a release; law: the texts of mechanisms beside it or in its place, as "discrete-gaussian:5x10".

    >>> from dp_assay import DiscreteGaussian, program
    >>> program.prove(DiscreteGaussian(5, 10), delta="1e-9", out="certificate.json")["claim"]     # doctest: +SKIP
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeAlias

from ._native import Account, Composition, Enclosure, IntegerNoise, _exact
from ._program import answer_of

__all__ = [
    "audit",
    "calibrate",
    "curve_of_sizes",
    "deployments",
    "ledger",
    "memo",
    "nmf_audit",
    "nmf_codes",
    "nmf_compare",
    "nmf_estimate",
    "published_counts",
    "prove",
    "published",
    "queries",
    "rehearse",
    "report",
    "risk_bound",
    "risk_curve",
    "risk_postprocess",
    "risk_sampler",
    "schema",
    "simulate",
    "spine",
    "tabulate",
    "tune",
]

_Path: TypeAlias = str | os.PathLike[str]
_Paths: TypeAlias = _Path | Iterable[_Path]
_Number: TypeAlias = Any
_Numbers: TypeAlias = Any
_Texts: TypeAlias = str | Iterable[str]
_Subject: TypeAlias = Account | _Path | None
_Given = ParamSpec("_Given")

# Options whose values are separated by commas.
_COMMAS = {"categories", "confidence", "noisy", "rho", "sizes", "states", "summary_levels"}


def _command(name: str, **fixed: Any) -> Callable[[Callable[_Given, None]], Callable[_Given, dict[str, Any]]]:
    """A function that runs a command of the program with its arguments: positional ones as such, an account as the options of one, others by their names."""

    def of(declared: Callable[_Given, None]) -> Callable[_Given, dict[str, Any]]:
        signature = inspect.signature(declared)

        @functools.wraps(declared)
        def run(*args: _Given.args, **kwargs: _Given.kwargs) -> dict[str, Any]:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{declared.__name__}() {error}") from None
            bound.apply_defaults()
            with tempfile.TemporaryDirectory(prefix="dp-assay-") as scratch:
                command = name.split()
                for key, value in bound.arguments.items():
                    parameter = signature.parameters[key]
                    if value is True and not isinstance(parameter.default, bool):
                        raise TypeError(f"{key} = True: expected a text or a number")
                    if key == "account":
                        command += _subject(value, Path(scratch))
                    elif parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
                        command += [_positional(each, key) for each in _listed(value)]
                    else:
                        command += _option(key.rstrip("_"), value, Path(scratch))
                for key, value in fixed.items():
                    command += _option(key, value, Path(scratch))
                try:
                    answer: dict[str, Any] = _enclosed(answer_of(command, accepted=(0, 1)))
                except ValueError as error:
                    raise ValueError(_in_words(str(error))) from None
                return answer

        run.__annotations__["return"] = "dict[str, Any]"
        return run

    return of


def _in_words(message: str) -> str:
    """A refusal with arguments in place of options, and without the usage of the command."""
    message = message.partition("\n\nUsage:")[0]
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), message)


def _listed(value: Any) -> list[Any]:
    """One value or several; none for None."""
    if value is None:
        return []
    if isinstance(value, (str, bytes, os.PathLike)) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _positional(value: Any, key: str) -> str:
    text: str = _text(value, key)
    if text.startswith("-"):
        raise ValueError(f"{key} = {text!r}: a name that begins with a dash; a file is ./{text}")
    return text


def _option(key: str, value: Any, scratch: Path) -> list[str]:
    """An option with its value, or each of its values."""
    option = "--" + key.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    if key in ("draws", "with", "without") and not isinstance(value, (str, os.PathLike, int, float)):
        return [f"{option}={_written(scratch / f'{key}.txt', value)}"]
    texts = [_text(each, key) for each in _listed(value)]
    if key in _COMMAS:
        return [f"{option}={','.join(texts)}"] if texts else []
    return [f"{option}={text}" for text in texts]


def _text(value: Any, key: str) -> str:
    if isinstance(value, (str, os.PathLike)):
        return str(os.fspath(value))
    if isinstance(value, IntegerNoise):
        [(law, text)] = _parts(value)[3]
        if law in _COLUMNS:
            raise TypeError(f"{key}: a table of masses; give its file as a text, table:FILE")
        return f"{law}:{text.partition('x')[0]}"
    if isinstance(value, bool) or value is None:
        raise TypeError(f"{key}: a value of type {type(value).__name__}: expected a text or a number")
    return str(_exact(value))


def _written(path: Path, runs: Iterable[Any]) -> Path:
    """A file of runs: numbers or words, or rows of them."""
    rows = [run if isinstance(run, Iterable) and not isinstance(run, str) else [run] for run in runs]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


# The columns of the files of laws that are known by their masses.
_COLUMNS = {"table": "value,mass", "p-table": "i,j,p", "pair": "p,q"}


def _parts(account: Account) -> Any:
    """Whether it is a composition, its release, levels, mechanisms as (law, text), relation, size of groups, title, and whether counts are as given."""
    reduced: Any = getattr(Composition([account]), "__reduce__")()  # noqa: B009
    return reduced[1]


def _subject(account: Any, scratch: Path) -> list[str]:
    """The options that name an account."""
    if account is None:
        return []
    if isinstance(account, (str, os.PathLike)):
        return [f"--release={os.fspath(account)}"]
    if not isinstance(account, Account):
        raise TypeError(f"account of type {type(account).__name__}: expected an Account, or the name or file of a release")
    _, release, levels, singles, neighbors, group, _, as_given = _parts(account)
    options = []
    periods = set()
    if release is not None:
        path = scratch / "release.toml"
        path.write_text(release, encoding="utf-8")
        options += [f"--release={path}", *(f"--level={level}" for level in levels)]
    for number, (law, text) in enumerate(singles):
        if law in _COLUMNS:
            count, shift, _, *rows = text.split("\n")
            if law == "p-table":
                periods.add(rows.pop(0).removeprefix("period ") if rows[0].startswith("period ") else "1")
            path = scratch / f"{law}-{number}.csv"
            path.write_text("\n".join([_COLUMNS[law], *(row.replace(" ", ",") for row in rows), ""]), encoding="utf-8")
            text = f"{path}x{count}" + ("" if law == "pair" else f"@{shift}")
        if law == "sampled-gaussian":
            sigma2, rate = text.split(":")
            rate, _, steps = rate.partition("x")
            law, text = "sampled", f"{rate}:gaussian:{sigma2}x{steps}"
        # Some laws take no shift, and no law needs one of 1.
        options.append(f"--law={law}:{text.removesuffix('@1')}")
    if len(periods) > 1:
        raise ValueError(f"perturbation tables of the periods {' and '.join(sorted(periods))}: the program has one period for all; the methods of the account answer")
    if periods - {"1"}:
        options.append(f"--period={periods.pop()}")
    if neighbors is not None:
        options.append(f"--neighbors={neighbors}")
    if group != 1:
        options.append(f"--group={group}")
    if as_given:
        options.append("--counts-as-given")
    return options


def _enclosed(value: Any, met: bool = True) -> Any:
    """JSON with an Enclosure in place of lower and upper ends."""
    if isinstance(value, list):
        return [_enclosed(each, met) for each in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"lower", "upper"} and all(end is None or isinstance(end, (int, Decimal)) for end in value.values()):
        return Enclosure(value["lower"], value["upper"], met=met)
    met = met and value.get("status", "met") == "met"
    return {key: _enclosed(each, met) for key, each in value.items()}


@_command("prove")
def prove(
    account: _Subject = None,
    *,
    law: _Texts = (),
    delta: _Number = None,
    epsilon: _Number = None,
    alpha: _Number = None,
    prior: _Number = None,
    of: Literal["events", "outputs"] | None = None,
    direction: Literal["with", "without"] | None = None,
    calibrate: bool = False,
    match: Literal["zcdp"] | None = None,
    scale_all: bool = False,
    decimals: int | None = None,
    row: str | None = None,
    out: _Path | None = None,
    checker: bool | _Path = False,
    reproducible: bool = False,
    rocq: _Path | None = None,
    digits: int | None = None,
) -> None:
    """Writes a certificate of a number into `out`, which an independent checker (proofs/check.py) proves again: epsilon at delta, delta at epsilon, or another claim."""


@_command("memo")
def memo(
    account: _Subject = None,
    *,
    out: _Path,
    law: _Texts = (),
    verify: _Path | None = None,
    ledger: _Path | None = None,
    delta: _Number = None,
    prior: _Number = None,
    of: Literal["events", "outputs"] | None = None,
    alpha: _Number = None,
    date: str | None = None,
    digits: int | None = None,
) -> None:
    """Writes a folder for an auditor to sign: a statement in words, its certificates, and how to check them."""


@_command("report")
def report(
    account: _Subject = None,
    *,
    law: _Texts = (),
    ledger: _Path | None = None,
    population: str | None = None,
    delta: _Number = None,
    prior: _Number = None,
    epsilon: _Number = None,
    unit: Literal["person", "household", "person-day", "event", "establishment"] | None = None,
    nmf: _Path | None = None,
    out: _Path | None = None,
    nist: _Path | None = None,
    registry: _Path | None = None,
    digits: int | None = None,
) -> None:
    """Writes a page for those who decide (`out`), a sheet of NIST SP 800-226 (`nist`) or an entry of the Deployments Registry (`registry`)."""


@_command("deployments")
def deployments(
    names: _Texts = (),
    *,
    from_: _Path | None = None,
    delta: _Number = None,
    out: _Path | None = None,
    reproducible: bool = False,
) -> None:
    """Published privacy parameters of real deployments, judged: those of these names, all bundled ones, or entries of the registry in `from_`."""


@_command("audit")
def audit(
    *,
    draws: _Path | int | float | Iterable[int] | None = None,
    law: str | IntegerNoise | None = None,
    with_: _Path | Iterable[Any] | None = None,
    without: _Path | Iterable[Any] | None = None,
    claim: _Texts = (),
    delta: _Numbers = None,
    errors: _Number = None,
    power: bool = False,
    false_alarm_rate: _Number = None,
    svg: _Path | None = None,
) -> None:
    """Tests whether integers are independent draws of a law, or what outputs of any program with and without a record prove about its epsilon.

    draws: a list or array of integers, or the file of such; with power the number of draws, or with claims that of runs of each data set. with_, without: an output per run, a number, a word or a row of
    them; or files of such. Answers of a test that fails say so in `verdict` and `refuted`.
    """


@_command("ledger")
def ledger(
    file: _Path | None = None,
    *,
    delta: _Number = None,
    new: _Path | None = None,
    show: bool = False,
    add: _Path | None = None,
    check: _Paths = (),
    promise: _Number = None,
    population: str | None = None,
    name: str | None = None,
    times: int | None = None,
    partition: str | None = None,
    part: str | None = None,
    adaptive: bool = False,
    withdraw: str | None = None,
    never_drawn: bool = False,
    because: str | None = None,
    digits: int | None = None,
) -> None:
    """A ledger of releases about the same people: its balance, its entries (`show`), an addition (`add`, as the entry `name`), or what an addition would do (`check`)."""


@_command("calibrate")
def calibrate(
    account: _Subject = None,
    *,
    law: _Texts = (),
    ledger: _Path | None = None,
    population: str | None = None,
    delta: _Number = None,
    epsilon: _Number = None,
    match: Literal["published", "zcdp", "best-order", "rdp", "pure", "basic"] | None = None,
    match_curve: str | None = None,
    decimals: int | None = None,
    per_level: bool = False,
    scale_all: bool = False,
    queries: bool = False,
    crossings: bool = False,
    advantage: _Number = None,
    beta: _Number = None,
    alpha: _Number = None,
    posterior: _Number = None,
    prior: _Number = None,
    of: Literal["events", "outputs"] | None = None,
    variance: _Number = None,
    bound: int | None = None,
    blocked: int | None = None,
    key_count: int | None = None,
    table_out: _Path | None = None,
    out: _Path | None = None,
    svg: _Path | None = None,
    digits: int | None = None,
) -> None:
    """The method `calibrate` of accounts with every option of the program: beside a ledger, level by level, query by query, and a law with a question mark."""


@_command("risk bound")
def risk_bound(
    account: _Subject = None,
    *,
    prior: _Number,
    law: _Texts = (),
    ledger: _Path | None = None,
    population: str | None = None,
    delta: _Number = None,
    svg: _Path | None = None,
    digits: int | None = None,
) -> None:
    """The method `risk` of accounts, also of everything in a ledger."""


@_command("risk curve")
def risk_curve(
    account: _Subject = None,
    *,
    prior: _Number,
    law: _Texts = (),
    ledger: _Path | None = None,
    population: str | None = None,
    points: int | None = None,
    from_: _Number = None,
    alpha: _Numbers = None,
    svg: _Path | None = None,
    digits: int | None = None,
) -> None:
    """The method `risk_curve` of accounts, also of everything in a ledger."""


@_command("risk postprocess")
def risk_postprocess(
    *, rho: _Number, others: int, prior: _Number, published: int, upper: int | None = None, svg: _Path | None = None, digits: int | None = None
) -> None:
    """What an adversary learns from a published count that was post-processed."""


@_command("risk sampler")
def risk_sampler(
    *,
    rho: _Numbers,
    others: int,
    prior: _Number,
    noisy: _Numbers,
    as_printed: bool = False,
    draws: _Number = None,
    insecure_seed: int | None = None,
    svg: _Path | None = None,
    digits: int | None = None,
) -> None:
    """An attack on two levels by draws of a sampler, beside the exact one."""


@_command("verify")
def published(
    papers: _Paths = (),
    *,
    new: _Path | None = None,
    full: bool = False,
    nodes: int | None = None,
    state: _Path | None = None,
    out: _Path | None = None,
    reproducible: bool = False,
    certificates: _Path | None = None,
) -> None:
    """Published values recomputed and judged, as dp_assay.verify does, with every option of the program."""


@_command("epsilon", queries=True)
def queries(account: _Subject = None, *, delta: _Number, law: _Texts = (), digits: int | None = None) -> None:
    """Epsilon of a release and of each of its queries alone."""


@_command("curve", over="shift")
def curve_of_sizes(account: _Subject = None, *, from_: int, to: int, delta: _Number, law: _Texts = (), points: int | None = None, digits: int | None = None) -> None:
    """Epsilon at delta over the size of a record: the number by which it changes each count."""


@_command("spine")
def spine(
    *,
    plan: _Path,
    out: _Path,
    blocks: _Path | None = None,
    hierarchy: _Path | None = None,
    delta: _Number = None,
    digits: int | None = None,
) -> None:
    """Builds a geographic spine into a folder: optimized block groups, bypassed units, block paths, and the exact epsilon at delta."""


@_command("schema")
def schema(release: _Path) -> None:
    """The attributes of a release and their values, and the number of counts of each query."""


@_command("simulate")
def simulate(
    counts: _Path,
    *,
    y: str,
    categories: _Texts,
    discrete_gaussian: _Numbers,
    x: str | None = None,
    trials: int | None = None,
    decimal_comma: bool = False,
    multiline: bool = False,
    insecure_seed: int | None = None,
    svg: _Path | None = None,
) -> None:
    """How far noise moves the slope of y on the share of a category, by trials with the exact sampler."""


@_command("tabulate")
def tabulate(
    *,
    config: _Path | None = None,
    spec: _Path | None = None,
    persons: _Path | None = None,
    households: _Path | None = None,
    units: _Path | None = None,
    all_blocks: bool = False,
    totals: _Path | None = None,
    totals_as_given: bool = False,
    geography: _Path | None = None,
    summary_levels: _Texts = (),
    out: _Path | None = None,
    check: bool = False,
    dry_run: bool = False,
    verify_output: _Path | None = None,
    new: _Path | None = None,
    delta: _Number = None,
    insecure_seed: int | None = None,
    resume: bool = False,
    discard: bool = False,
    cluster: str | None = None,
    shared: _Path | None = None,
    cluster_token: _Path | None = None,
    cluster_plain: bool = False,
    cluster_limit: _Number = None,
) -> None:
    """Tabulates persons or households by detailed race and ethnicity with SafeTab, and certifies the privacy of the release."""


@_command("tune")
def tune(
    *,
    rho: _Number = None,
    epsilon: _Number = None,
    moe: _Number = None,
    plan: _Path | None = None,
    config: _Path | None = None,
    spec: _Path | None = None,
    set: _Texts = (),
    out: _Path | None = None,
    mechanism: Literal["discrete-gaussian", "geometric"] | None = None,
    decimals: int | None = None,
    gamma: _Number = None,
    stability: int | None = None,
    race_codes: int | None = None,
    suppress: _Number = None,
    target_error: _Number = None,
    neighbors: Literal["add-remove", "bounded"] | None = None,
    sizes: _Numbers = (),
    delta: _Number = None,
    digits: int | None = None,
) -> None:
    """Margins of error, sizes, suppression and exact privacy of SafeTab's two-stage counts, from a budget or for a margin."""


@_command("rehearse")
def rehearse(
    *,
    spec: _Path,
    geography: _Path,
    trials: int,
    out: _Path,
    config: _Path | None = None,
    made_up: int | None = None,
    population_seed: int | None = None,
    persons: _Path | None = None,
    households: _Path | None = None,
    units: _Path | None = None,
    all_blocks: bool = False,
    totals: _Path | None = None,
    totals_as_given: bool = False,
    summary_levels: _Texts = (),
    insecure_seed: int | None = None,
) -> None:
    """Simulates SafeTab many times on records that are not confidential, and compares the published counts with the truth."""


@_command("estimate")
def published_counts(
    *,
    published_counts: _Path,
    release: _Path,
    out: _Path,
    confidence: _Number = None,
) -> None:
    """Intervals for the true counts behind published ones of the Detailed DHC-A or -B, also written into `out`.

    published_counts: a CSV with the columns region_type, geoid, group, variable, count and, where needed, finest. release: ddhca-us, ddhca-pr, ddhcb-us or
    ddhcb-pr. confidence: in percent. `counts` of the answer has a row for each count, with `reason` where no interval follows.
    """


@_command("nmf estimate")
def nmf_estimate(
    folder: _Path,
    *,
    release: _Path,
    out: _Path,
    queries: _Texts = (),
    recodes: _Path | None = None,
    level: _Texts = (),
    areas: _Path | None = None,
    truth: _Path | None = None,
    multiline: bool = False,
    constraints: Literal["none", "state-totals", "all"] | None = None,
    state_totals: _Path | None = None,
    states: _Texts = (),
    variables: _Texts = (),
    wide: bool = False,
    confidence: _Numbers = (),
    non_negative: bool = False,
    names: _Path | None = None,
    area_totals: _Path | None = None,
    tabulation: _Texts = (),
    whole: bool | _Texts = False,
    covariance: _Path | None = None,
    difference: _Texts = (),
    share: _Texts = (),
    rank: _Texts = (),
    median: _Texts = (),
    work: _Path | None = None,
    part: str | None = None,
    combine: bool = False,
    svg: _Path | None = None,
    published: _Path | None = None,
    incomplete: bool = False,
    despite_misfit: bool = False,
    files: Literal["csv", "parquet", "bureau"] | None = None,
) -> None:
    """Estimates from noisy measurement files, written into `out`: dp_assay.nmf.estimate with every option of the program, such as census variables, covariances, differences and ranks."""


@_command("nmf audit")
def nmf_audit(
    folder: _Path | None = None,
    *,
    release: _Path | None = None,
    states: _Texts = (),
    state_totals: _Path | None = None,
    power: bool = False,
    draws: _Number = None,
    law: str | IntegerNoise | None = None,
    false_alarm_rate: _Number = None,
    out: _Path | None = None,
    svg: _Path | None = None,
) -> None:
    """Tests whether the noise of noisy measurement files is that of their release."""


@_command("nmf codes")
def nmf_codes(codes: _Texts = ()) -> None:
    """The census variables that noisy measurements can estimate: the tables, the codes of these tables, or `all`."""


@_command("nmf compare")
def nmf_compare(first: _Path, second: _Path) -> None:
    """Two files of estimates beside each other, in standard deviations of the second."""
