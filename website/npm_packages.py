"""Packages of npm that the site and tests of pages use, with their versions and checksums, and
their download.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
TIMEOUT = 300
"""Seconds that npm has for a package."""


@dataclass(frozen=True)
class Package:
    """A package of npm: its name and version, and its SHA-512 as npm writes it."""

    name: str
    sha512: str


DUCKDB = Package(
    "@duckdb/duckdb-wasm@1.32.0",
    "IewXTNYEjsZCPE9weUWgtjGxUlMRo7qhX0GF6tq/KjK8bnY+RAl4cyUdYUfcdzbyb4b9ZxPC+FOsCcxgaKFWMg==",
)
ARROW = Package(
    "apache-arrow@17.0.0",
    "X0p7auzdnGuhYMVKYINdQssS4EcKec9TCXyez/qtJt32DrIMGbzqiaMiQ0X6fQlQpw8Fl0Qygcv4dfRAr5Gu9Q==",
)
AXE = Package(
    "axe-core@4.14.1",
    "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
)


def fetch_archive(package: Package, folder: Path) -> Path:
    """Return the archive of a package, fetched by npm into a folder.

    Raises:
        OSError: There is no npm, or it cannot fetch the package.
        subprocess.SubprocessError: It failed, or took too long.
        ValueError: The archive is not the one of the checksum.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is not installed")
    command = [npm, "pack", package.name, "--silent", "--pack-destination", str(folder)]
    # Names of packages from above
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, capture_output=True, text=True, check=True, timeout=TIMEOUT
    )
    archive = folder / done.stdout.split()[-1]
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.sha512:
        raise ValueError(
            f"{package.name} has the SHA-512 {digest}, not {package.sha512}: someone changed it"
        )
    return archive


def read_member(archive: Path, name: str) -> bytes:
    """Return a file of the archive of a package."""
    with tarfile.open(archive) as files:
        file = files.extractfile(f"package/{name}")
        if file is None:
            raise FileNotFoundError(f"{archive.name} has no {name}")
        return file.read()


def read_axe() -> str:
    """Return the script of axe-core, which finds what makes a page inaccessible. It is fetched once
    and kept.

    Raises:
        OSError: There is no npm, or it cannot fetch the package.
        subprocess.SubprocessError: It failed, or took too long.
        ValueError: The archive is not the one of the checksum.
    """
    script_path = ROOT / ".cache" / "axe" / f"{AXE.name}.js"
    if not script_path.exists():
        with TemporaryDirectory() as temporary:
            script = read_member(fetch_archive(AXE, Path(temporary)), "axe.min.js")
        script_path.parent.mkdir(parents=True, exist_ok=True)
        script_path.write_bytes(script)
    return script_path.read_text("utf-8")
