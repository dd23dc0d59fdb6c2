"""``python -m tests.stored`` writes the folder of this version, and removes those of versions that
were not released.
"""

import re
import shutil

from sqlrank import __version__
from tests.stored.writing import FOLDER, write_version
from website.public_interface import CHANGELOG

released = {*re.findall(r"^## \[(\d[\d.]*)\]", CHANGELOG.read_text("utf-8"), re.MULTILINE)}
for folder in FOLDER.glob("*.*.*"):
    if folder.is_dir() and folder.name not in released:
        shutil.rmtree(folder)
if __version__ in released and (FOLDER / __version__).is_dir():
    raise SystemExit(
        f"{FOLDER / __version__} is of a released version, whose files stay as they are"
    )
write_version(FOLDER / __version__)
