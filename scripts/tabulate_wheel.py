"""Packs the program with the query engine into the wheel dp-assay-tabulate, as `assay-tabulate` beside the program `assay` of dp-assay, which
hands `assay tabulate` over to it. Called by scripts/wheel: PROGRAM VERSION LICENSES FOLDER. Prints the wheel's path."""

import base64
import hashlib
import platform
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

DESCRIPTION = """The program `assay` of dp-assay with its query engine: `assay tabulate` counts person and household records with it, and gives SafeTab's
tables with a certificate. Install it as `dp-assay[tabulate]`.
"""


def platform_tag(program):
    """On Linux the newest glibc that the program asks for; elsewhere the system's own name."""
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[.\0])", program)
    if sys.platform == "linux" and versions:
        major, minor = max((int(major), int(minor)) for major, minor in versions)
        return f"manylinux_{major}_{minor}_{platform.machine()}"
    return re.sub("[-.]", "_", sysconfig.get_platform())


def main(program, version, licenses, folder):
    program, licenses = Path(program).read_bytes(), sorted(Path(licenses).iterdir())
    tag = f"py3-none-{platform_tag(program)}"
    info, name = f"dp_assay_tabulate-{version}.dist-info", f"dp_assay_tabulate-{version}-{tag}.whl"
    metadata = [
        "Metadata-Version: 2.4",
        "Name: dp-assay-tabulate",
        f"Version: {version}",
        "Summary: The query engine of dp-assay: counts records and publishes them with certified noise",
        "License-Expression: (MIT OR Apache-2.0) AND LGPL-3.0-or-later",
        *(f"License-File: {file.name}" for file in licenses),
        "Requires-Python: >=3.10",
        f"Requires-Dist: dp-assay=={version}",
        "Description-Content-Type: text/markdown",
        "",
        DESCRIPTION,
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: dp-assay", "Root-Is-Purelib: false", f"Tag: {tag}", ""]
    files = {f"dp_assay_tabulate-{version}.data/scripts/assay-tabulate": program}
    files |= {f"{info}/licenses/{file.name}": file.read_bytes() for file in licenses}
    files |= {f"{info}/METADATA": "\n".join(metadata).encode(), f"{info}/WHEEL": "\n".join(wheel).encode()}
    record = "".join(f"{path},sha256={digest(content)},{len(content)}\n" for path, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in files.items():
            # The same bytes whenever it is packed.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith("/assay-tabulate") else 0o100644) << 16
            archive.writestr(entry, content)
    print(path)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main(*sys.argv[1:])
