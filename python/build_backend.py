"""The build of the Python package for pip (PEP 517): builds the program `assay`, which the wheel contains, and then the module with maturin.

scripts/wheel does the same without pip, and can build for older systems."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import get_requires_for_build_sdist, get_requires_for_build_wheel

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

HERE = Path(__file__).resolve().parent
# In a source distribution this file is in the project's folder, and in a checkout one folder below.
ROOT = HERE if (HERE / "python" / "Cargo.toml").is_file() else HERE.parent
SCRIPTS = HERE / "wheel-data" / "scripts"

get_requires_for_build_editable = get_requires_for_build_wheel


def _with_program():
    """Puts the program and the licences of all crates where maturin packs them."""
    subprocess.run(["cargo", "build", "--release", "--locked", "--bin", "assay"], cwd=ROOT, check=True, stdout=sys.stderr)
    name = "assay.exe" if os.name == "nt" else "assay"
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    built = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release" / name
    shutil.copy(ROOT / built, SCRIPTS / name)
    printed = subprocess.run([sys.executable, "scripts/release/third_party.py"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout
    (HERE / "licenses" / "THIRD-PARTY.txt").write_text(printed, encoding="utf-8")


def _with_folder():
    """maturin requires the folder of the program, even if it packs nothing."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _with_program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _with_program()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    _with_folder()
    return maturin.build_sdist(sdist_directory, config_settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    _with_folder()
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    _with_folder()
    return maturin.prepare_metadata_for_build_editable(metadata_directory, config_settings)
