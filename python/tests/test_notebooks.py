"""The notebooks run from beginning to end; their assertions hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, program

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_there_are_the_six() -> None:
    assert len(NOTEBOOKS) == 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    if "nmf" in text and program() is None:
        pytest.skip("the package was built in place, without the program")
    if "opacus" in text:
        pytest.importorskip("opacus")
    # The same folders as those of the notebooks, so that they find the data, and write into the temporary folder.
    (tmp_path / "data").symlink_to(ROOT / "data")
    folder = tmp_path / "python" / "notebooks"
    folder.mkdir(parents=True)
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not kept: clear them"
    nbclient.NotebookClient(notebook, timeout=250, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert len(shown) >= 5 and not any(output.output_type == "error" for output in shown)
