"""sums.py: golden/SHA256SUMS, for `sha256sum -c` and for the reader, which refuses a golden whose hash is not the one listed."""
import hashlib
import os

from files import GOLDEN, write_text


def listed():
    """Every golden file, sorted: all under golden/ but SHA256SUMS itself, README*, *.py and __pycache__."""
    found = []
    for folder, folders, names in os.walk(GOLDEN):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [os.path.relpath(os.path.join(folder, name), GOLDEN) for name in names
                  if name != "SHA256SUMS" and not name.startswith("README") and not name.endswith(".py")]
    return sorted(found)


def write():
    lines = []
    for path in listed():
        with open(os.path.join(GOLDEN, path), "rb") as file:
            lines.append(f"{hashlib.sha256(file.read()).hexdigest()}  {path}\n")
    write_text("SHA256SUMS", "".join(lines))
    return {"files": len(lines)}


if __name__ == "__main__":
    print(write())
