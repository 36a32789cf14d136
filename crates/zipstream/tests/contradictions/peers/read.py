"""Python's zipfile as a reader of contradictions: prints every entry of every archive of a folder.

Each archive is a line `= FILE`, a line `NAME KIND CRC32` for each entry that was read, with the name in hex,
and a line `ok` if nothing was refused.
"""

import os
import sys
import zipfile
import zlib

folder = sys.argv[1]
for file in sorted(os.listdir(folder)):
    print("=", file)
    try:
        with zipfile.ZipFile(os.path.join(folder, file)) as archive:
            for entry in archive.infolist():
                content = archive.read(entry)
                name = entry.filename.encode("utf-8", "surrogateescape").hex()
                kind = "d" if entry.is_dir() else "?"
                print(name or "-", kind, format(zlib.crc32(content), "08x"))
        print("ok")
    except Exception as error:
        print("refused", type(error).__name__)
