"""Runs the linear passes of census-bluedown over a folder of noisy measurement files of one state, in memory.

    python peers_bluedown.py CHECKOUT FOLDER STATE TOTAL OUT

Called by scripts/peers/peers_estimate.py, in a separate process. CHECKOUT is a clone of census-bluedown. These parts are used unchanged: its reader of noisy measurement files, its shape of P.L. 94-171 (`run_pass.BLOCK_SHAPE`), its passes (`main_passes.input_pass`, which
regresses the counts of each unit and keeps the zeros of its constraints, `bottom_up_pass` and `top_down_pass`) and its treatment of the
nation (`root.root_input_pass`, `constrain.apply_sum_constraint`, `regression.combine`). Between passes it writes files; here they stay
in memory. It has no linear step from the nation's counts to the state, because a non-linear program follows there. Here its own functions
make that step: the best combination of the state's counts with the nation's, keeping the exact total.

Prints a line of JSON: processor seconds upwards and downwards, and for reading. Writes to OUT, by level, the geocodes and the final
estimates and variances of some queries.
"""

import json
import resource
import sys
import time

QUERIES = ["total", "hhgq", "votingage * hispanic", "cenrace", "detailed"]


def query_matrix(np, name):
    """The groups of a query over the 32 cells of hhgq, votingage and hispanic; and whether it distinguishes races."""
    kept = [part.strip() for part in name.split("*")]
    matrix = np.ones((1, 1))
    for axis, size in (("hhgq", 8), ("votingage", 2), ("hispanic", 2)):
        matrix = np.kron(matrix, np.eye(size) if axis in kept or name == "detailed" else np.ones((1, size)))
    return matrix, "cenrace" in kept or name == "detailed"


def answers(np, estimate, queries):
    """Estimates and variances of queries of a unit. A covariance has a row for one race and one for their sum in each of the 32 cells; it
    is the same for all races."""
    cells = estimate.val.reshape(32, 63)
    for matrix, by_race in queries:
        counts = matrix @ (cells if by_race else cells.sum(axis=1, keepdims=True))
        place = 0 if by_race else 1
        variances = np.einsum("ij,jk,ik->i", matrix, estimate.cov[place::2, place::2], matrix)
        yield counts.flatten(), np.repeat(variances, counts.shape[1])


def main():
    checkout, folder, state, total, out = sys.argv[1:]
    sys.path.insert(0, checkout)
    import numpy as np
    import pandas as pd
    from census_bluedown import constants, constrain, io, main_passes, regression, root
    from census_bluedown.run_pass import BLOCK_SHAPE as shape

    class Memory(io.AbstractBlockHierarchicalIO):
        """Tables by level and name, or by level only if the name is ignored, as in its reader."""

        def __init__(self, named):
            super().__init__(path_prefix="", subtree_folder="", read_only=False)
            self.named, self.tables = named, {}

        def key(self, level, filename):
            return (level, filename if self.named else None)

        def read(self, level, filename):
            # Its passes add columns to their input.
            return self.tables[self.key(level, filename)].copy(deep=False)

        def write(self, level, filename, df):
            self.tables[self.key(level, filename)] = df

        def exists(self, level, filename):
            return self.key(level, filename) in self.tables

    def read(suffix):
        source, held = io.InputFormatIO(folder, f"State={state}", True, suffix), Memory(named=False)
        for level in (constants.ROOT_LEVEL, *constants.LEVELS):
            held.write(level, None, source.read(level))
        return held

    began = time.process_time()
    counts, constraints = read(constants.NMF_PATH_SUFFIX), read(constants.CONSTRAINT_PATH_SUFFIX)
    reading = time.process_time() - began
    blocks = counts.read(constants.LEAF_LEVEL, None)[constants.ID].nunique()

    work, top = Memory(named=True), constants.LEVELS[0]
    began = time.process_time()
    main_passes.input_pass(counts, constraints, work, shape, None)
    main_passes.bottom_up_pass(work, work, shape)
    root.root_input_pass(counts, constraints, work, shape, None)
    up = time.process_time() - began

    began = time.process_time()

    def of(level, filename):
        return work.read(level, filename)[constants.ESTIMATE].item()

    nation = of(constants.ROOT_LEVEL, constants.BLOCK_EST_FNAME)
    above = constrain.apply_sum_constraint(shape, nation, int(total))
    for source, to in [(constants.BLOCK_EST_FNAME, constants.UPPER_EST_FNAME), (constants.LOWER_EST_FNAME, constants.COMBINED_EST_FNAME)]:
        combined = regression.combine(shape, of(top, source), above)
        work.write(top, to, pd.DataFrame({constants.ID: [state], constants.ESTIMATE: [combined]}))
    main_passes.top_down_pass(work, work, shape)
    down = time.process_time() - began

    queries = [query_matrix(np, name) for name in QUERIES]
    tables = {}
    for level in constants.LEVELS:
        finals = work.read(level, constants.COMBINED_EST_FNAME)
        tables[f"{level}/geocode"] = finals[constants.ID].to_numpy(dtype=str)
        of_units = [list(answers(np, estimate, queries)) for estimate in finals[constants.ESTIMATE]]
        for place, name in enumerate(QUERIES):
            tables[f"{level}/{name}"] = np.array([unit[place] for unit in of_units])
    np.savez(out, **tables)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"blocks": blocks, "up": up, "down": down, "reading": reading, "mib": peak / 1024}))


if __name__ == "__main__":
    main()
