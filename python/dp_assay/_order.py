"""Rows in the order of their true counts, which noise does not change."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any


class OrderWarning(UserWarning):
    """Counts were in the order of their sizes and their keys were not, and keep_order=True was given: the rows of the noisy counts keep that order, which has no noise."""


def check_order(where: str, counts: Any, keys: Sequence[Iterable[Any]], keep: bool) -> None:
    """Refuses counts that rise or fall from row to row, or within each group of equal first keys, where the keys do not rise; with keep a warning.

    keys: the columns of keys, none if there are no keys.
    """
    values = [int(count) for count in counts]
    if not keys or len(set(values)) < 2 or not _is_by_counts(values, list(zip(*keys, strict=False))):
        return
    what = f"{where} in the order of the true counts, which the noisy ones keep: who sees the rows learns this order without noise"
    if keep:
        warnings.warn(what, OrderWarning, stacklevel=4)
        return
    raise ValueError(
        f"{what}. Sort by the keys before noise is added, as by .sort_index() or .sort_values(key), or by .reindex(all keys); keep_order=True is for an order that "
        "does not come from the counts"
    )


def _is_by_counts(values: list[int], rows: list[tuple[Any, ...]]) -> bool:
    for depth in range(len(rows[0])):
        groups = [list(group) for _, group in groupby(zip(rows, values, strict=False), key=lambda row: tuple(map(str, row[0][:depth])))]
        keys = [[row[depth:] for row, _ in group] for group in groups]
        counts = [[value for _, value in group] for group in groups]
        # Keys that stand in one order in every group have it from elsewhere, as from a code book.
        if depth and (max(map(len, keys)) < 2 or all(own == keys[0] for own in keys)):
            continue
        rises, falls = (all(_steps(own, sign) for own in counts) for sign in (1, -1))
        if (rises or falls) and any(len(set(own)) > 1 and not _is_sorted(names) for own, names in zip(counts, keys, strict=False)):
            return True
    return False


def _steps(values: list[int], sign: int) -> bool:
    return all(sign * one <= sign * other for one, other in zip(values, values[1:], strict=False))


def _is_sorted(rows: list[tuple[Any, ...]]) -> bool:
    # Falling keys are no order beside falling counts: of two keys one order or the other always holds.
    try:
        return all(one <= other for one, other in zip(rows, rows[1:], strict=False))
    except (TypeError, ValueError):  # keys of several types, or without an order
        texts = [tuple(map(str, row)) for row in rows]
        return all(one <= other for one, other in zip(texts, texts[1:], strict=False))
