"""Prints the crates that the wheel contains, each with its version, its licence and the texts of its licence files. Called by
scripts/wheel."""

import json
import subprocess
import sys
from pathlib import Path

NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


def linked():
    """Name and version of every crate that is linked into the module or the program."""
    found = set()
    for package in ["dp-assay", "dp-assay-python"]:
        command = ["cargo", "tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package", package]
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            name, version, *_ = line.split()
            found.add((name, version.removeprefix("v")))
    return found


def main():
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["packages"]
    wanted = linked()
    if missing := wanted - {(package["name"], package["version"]) for package in packages}:
        sys.exit(f"no licence is known of {missing}")
    texts = {}
    print("The crates that this wheel contains, and below the texts of their licences.\n")
    for package in sorted(packages, key=lambda package: (package["name"], package["version"])):
        if (package["name"], package["version"]) not in wanted or package["name"].startswith("dp-assay"):
            continue
        title = f"{package['name']} {package['version']}"
        print(f"{title}: {package['license']}; {package['repository'] or 'no repository named'}")
        folder = Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and file.name.upper().startswith(NAMES):
                texts.setdefault(file.read_text(encoding="utf-8", errors="replace").strip(), []).append(title)
    for text, titles in texts.items():
        print("\n" + "=" * 100)
        print(", ".join(dict.fromkeys(titles)))
        print("=" * 100 + f"\n\n{text}")


if __name__ == "__main__":
    main()
