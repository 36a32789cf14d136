"""Python's zipfile, and pyzipper where it is named, as a peer of `cargo xtask peers zip-interop`.

peer.py LIBRARY extract FILE DIRECTORY | print FILE | write DIRECTORY FILE METHOD
"""

import os
import shutil
import sys
import zipfile

PASSWORD = b"right"


def opened(library, *args):
    if library == "zipfile":
        return zipfile.ZipFile(*args)
    import pyzipper

    archive = pyzipper.AESZipFile(*args)
    archive.setpassword(PASSWORD)
    return archive


def write(library, source, path, method):
    bits = {"aes128": 128, "aes192": 192, "aes256": 256}.get(method)
    methods = {
        "store": zipfile.ZIP_STORED,
        "bzip2": zipfile.ZIP_BZIP2,
        "lzma": zipfile.ZIP_LZMA,
    }
    # What cannot seek gets descriptors.
    sink = sys.stdout.buffer if path == "-" else path
    with opened(library, sink, "w", methods.get(method, zipfile.ZIP_DEFLATED)) as archive:
        if bits:
            archive.setencryption(sys.modules["pyzipper"].WZ_AES, nbits=bits)
        for root, directories, files in os.walk(source):
            directories.sort()
            for name in sorted(files):
                archive.write(os.path.join(root, name))


def main():
    library, verb, *rest = sys.argv[1:]
    if verb == "write":
        write(library, *rest)
        return
    with opened(library, rest[0]) as archive:
        if verb == "extract":
            archive.extractall(rest[1])
            return
        for entry in archive.infolist():
            with archive.open(entry) as content:
                shutil.copyfileobj(content, sys.stdout.buffer, 1 << 20)


main()
