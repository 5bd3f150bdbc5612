# SPDX-License-Identifier: MIT
"""host.py: runs one Python sampler as a worker of samplegate, speaking the frames of ../protocol/frame.h.

    python3 host.py NAME [key=value ...]      NAME is an engine (NAME.py beside this file) or a path ending in .py

Standard library only: the environment needs the engine and nothing else. A worker is a file with a class Worker:

    import random

    class Worker:
        takes = "probabilities"             # or "logits", or both words, preferred first
        options = {"sign": ("1", "-1")}     # accepted key=value: a tuple of choices or a free text; the first is the default

        def __init__(self, options):        # raise ValueError(text) to refuse them
            self.options = options

        def reset(self, seed):              # restart the noise; called before every chunk
            self.random = random.Random(seed)

        def sample(self, call):             # one batch; returns call.draws token ids
            rows = [call.values.row(i) for i in range(call.values.shape[0])]
            ids = range(call.values.shape[1])
            return [self.random.choices(ids, rows[r])[0] for r in call.row_index]

Attributes a worker may add: name, version, device ("cpu"); dtype ("f32", "f16", "bf16": what values are handed over
as); capabilities (words of "temperature noise seeded": an option without its word is answered "unsupported");
contract (JSON text of its claims); versions {name: text}; files {label: path} to be hashed; and, in the module, INSTALL
(how to get what it imports). sample() may raise NotImplementedError(text) to say "unsupported"; any other exception is
an error of that chunk, its traceback goes to stderr, and the worker lives on.

A call has: kind ("logits" or "probabilities"), draws, values (Array [rows, vocab], the same object for all calls of a
chunk), row_index (int32 [draws]), and, None where not asked for: temperature ([draws] floats), noise (Array F32
[draws, vocab] of Exp(1) variates), seeds and positions (int64 [draws]). Bad input: one line on stderr, exit status 2.
"""
import array
import hashlib
import importlib.util
import json
import math
import os
import re
import struct
import sys
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
PROTOCOL = "1"
FRAME_BYTES_MAX = 1 << 32
DRAWS_MAX = 1 << 28
ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "F64": 8, "I32": 4, "I64": 8, "U8": 1}
SAMPLE_ARRAYS = {"values", "row_index", "temperature", "noise", "seeds", "positions"}
ECHOED = ("cell", "stage", "batch", "chunk")
CAPABILITIES = {"temperature", "noise", "seeded"}
TEXT_MAX = 4000  # characters of an exception's text that go into a message


class Refused(Exception):
    """What was asked for cannot be started or understood: one line, exit status 2."""


class Invalid(Exception):
    """A well-framed message that makes no sense: answered by `error`."""


class Array:
    """dtype ("F32", ...), shape (a tuple) and data (a writable memoryview of bytes, row-major, dense)."""

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, shape, data

    def slice(self, first, last):
        """Rows first to last - 1, sharing the data."""
        step = math.prod(self.shape[1:]) * ITEM_BYTES[self.dtype]
        return Array(self.dtype, (last - first,) + self.shape[1:], self.data[first * step:last * step])

    def row(self, index):
        """Row `index` as Python floats, whatever the dtype."""
        step = self.shape[1] * ITEM_BYTES[self.dtype]
        data = self.data[index * step:(index + 1) * step]
        if self.dtype == "F16":
            return list(struct.unpack("<%de" % self.shape[1], data))
        if self.dtype == "BF16":  # the upper half of an fp32
            data = array.array("I", [half << 16 for half in data.cast("H")])
            return memoryview(data).cast("B").cast("f").tolist()
        return data.cast("f").tolist()


class Call:
    """One batch handed to Worker.sample(); see the top of this file."""


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key appears twice")
    return dict(pairs)


def frame_read(file):
    """(metadata, {name: Array}), or None at a clean end of input. Refused if it is not a frame."""
    head = bytearray(8)
    got = read_into(file, head)
    if got == 0:
        return None
    length = struct.unpack("<Q", head)[0]
    if got < 8:
        raise Refused("broken frame: the input ends inside a frame's length")
    if not 8 <= length <= FRAME_BYTES_MAX:
        raise Refused("broken frame: a length of %d bytes (8 to %d are possible)" % (length, FRAME_BYTES_MAX))
    document = bytearray(length)
    got = read_into(file, document)
    if got < length:
        raise Refused("broken frame: the input ends after %d of %d bytes" % (got, length))
    try:
        return document_parse(document)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Refused("broken frame: %s: %s" % (type(error).__name__, error))


def read_into(file, buffer):
    view, got = memoryview(buffer), 0
    while got < len(buffer):
        count = file.readinto(view[got:])
        if not count:
            break
        got += count
    return got


def document_parse(document):
    """A safetensors document: every array's size matches its shape, and together they fill the data exactly."""
    header_bytes = struct.unpack_from("<Q", document)[0]
    if header_bytes > len(document) - 8:
        raise ValueError("the header is longer than the frame")
    header = json.loads(document[8:8 + header_bytes].decode("utf-8"), object_pairs_hook=unique)
    metadata = header.pop("__metadata__")
    if not all(isinstance(text, str) for text in metadata.values()):
        raise ValueError("metadata that is not text")
    data, arrays, filled = memoryview(document)[8 + header_bytes:], {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
        if dtype not in ITEM_BYTES or not all(type(n) is int and n >= 0 for n in shape + (begin, end)):
            raise ValueError("array %s has a bad dtype, shape or offset" % name)
        if begin != filled or end - begin != math.prod(shape) * ITEM_BYTES[dtype] or end > len(data):
            raise ValueError("array %s does not lie where its shape says" % name)
        aligned = (8 + header_bytes + begin) % ITEM_BYTES[dtype] == 0
        arrays[name] = Array(dtype, shape, data[begin:end] if aligned else memoryview(bytearray(data[begin:end])))
        filled = end
    if filled != len(data):
        raise ValueError("%d bytes belong to no array" % (len(data) - filled))
    return metadata, arrays


def frame_write(file, metadata, arrays=()):
    """Write one frame; arrays: (name, dtype, shape, bytes-like)."""
    header, end = {"__metadata__": metadata}, 0
    for name, dtype, shape, data in arrays:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header).encode("ascii")
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<QQ", 8 + len(text) + end, len(text)) + text)
    for _, _, _, data in arrays:
        file.write(data)
    file.flush()


def number(metadata, key, least, most):
    text = metadata.get(key, "")
    if not re.fullmatch("0|[1-9][0-9]{0,19}", text) or not least <= int(text) <= most:
        raise Invalid("%s is %r; a whole number of %d to %d is needed" % (key, text, least, most))
    return int(text)


def checked(arrays, name, dtypes, shapes):
    """The named array, None if absent; Invalid unless it has one of the dtypes and one of the shapes."""
    found = arrays.get(name)
    if found is not None and (found.dtype not in dtypes or found.shape not in shapes):
        raise Invalid("%s is %s %s, not %s %s" % (name, found.dtype, list(found.shape), " or ".join(dtypes),
                                                  " or ".join(str(list(shape)) for shape in shapes)))
    return found


def words(text):
    return text.split()


def calls(worker, metadata, arrays):
    """Check a sample message whole, then yield its calls in order. Invalid or NotImplementedError."""
    draws, batch, kind = number(metadata, "draws", 1, DRAWS_MAX), number(metadata, "batch", 1, DRAWS_MAX), metadata.get("kind")
    number(metadata, "seed", 0, (1 << 64) - 1)
    values, unknown = arrays.get("values"), sorted(set(arrays) - SAMPLE_ARRAYS)
    if unknown:
        raise NotImplementedError("this host knows no array %s" % ", ".join(unknown))
    if kind not in ("logits", "probabilities"):
        raise Invalid("kind is %r, not logits or probabilities" % kind)
    if kind not in words(worker.takes):
        raise NotImplementedError("takes %s, not %s" % (worker.takes, kind))
    if values is None or len(values.shape) != 2 or 0 in values.shape or values.dtype.lower() != worker.dtype:
        raise Invalid("values [rows, vocab] of dtype %s are needed" % worker.dtype)
    rows, vocab = values.shape
    row_index = checked(arrays, "row_index", ["I32"], [(draws,)])
    temperature = checked(arrays, "temperature", ["F64"], [(1,), (draws,)])
    noise = checked(arrays, "noise", ["F32"], [(draws, vocab)])
    seeds = checked(arrays, "seeds", ["I64"], [(draws,)])
    positions = checked(arrays, "positions", ["I64"], [(draws,)])
    if (seeds is None) != (positions is None) or (seeds and noise):
        raise Invalid("seeds and positions come together, and not with noise")

    index = row_index.data.cast("i") if row_index else memoryview(bytearray(4 * draws)).cast("i")
    if row_index and not 0 <= min(index) <= max(index) < rows:
        raise Invalid("row_index goes outside the %d rows" % rows)
    degrees = temperature.data.cast("d").tolist() if temperature else None
    if degrees and set(degrees) == {1.0} and "temperature" not in words(worker.capabilities):
        degrees = None  # dividing by one is no option
    for asked, capability in ((degrees, "temperature"), (noise, "noise"), (seeds, "seeded")):
        if asked and capability not in words(worker.capabilities):
            raise NotImplementedError("no %s" % capability)
    if degrees and len(degrees) == 1:
        degrees *= draws

    for first in range(0, draws, batch):
        last = min(first + batch, draws)
        call = Call()
        call.kind, call.draws, call.values, call.row_index = kind, last - first, values, index[first:last]
        call.temperature = degrees[first:last] if degrees else None
        call.noise = noise.slice(first, last) if noise else None
        call.seeds = seeds.data.cast("q")[first:last] if seeds else None
        call.positions = positions.data.cast("q")[first:last] if positions else None
        yield call


def tokens_of(answer, draws):
    """What sample() returned as int32 bytes, of exactly `draws` tokens."""
    if not isinstance(answer, (bytes, bytearray)):
        answer = array.array("i", answer).tobytes()
    if len(answer) != 4 * draws:
        raise ValueError("sample() returned %d tokens for %d draws" % (len(answer) // 4, draws))
    return answer


def answer_sample(worker, metadata, arrays):
    """(metadata, arrays) of the answer."""
    echo = {key: metadata[key] for key in ECHOED if key in metadata}
    try:
        token, fresh = bytearray(), True
        for call in calls(worker, metadata, arrays):
            if fresh:
                worker.reset(int(metadata["seed"]))
                fresh = False
            token += tokens_of(worker.sample(call), call.draws)
        return dict(echo, message="tokens"), [("token", "I32", (len(token) // 4,), token)]
    except NotImplementedError as error:
        return dict(echo, message="unsupported", text=plain(error)), ()
    except Invalid as error:
        return dict(echo, message="error", text=plain(error)), ()
    except Exception as error:  # the worker's own code: anything may come
        traceback.print_exc()
        return dict(echo, message="error", text="%s: %s" % (type(error).__name__, plain(error))), ()


def plain(error):
    """An exception's text as UTF-8 that any JSON reader takes."""
    return str(error)[:TEXT_MAX].replace("\0", "?").encode("utf-8", "replace").decode("utf-8")


def answer_hello(worker, metadata):
    if metadata.get("protocol") != PROTOCOL:
        raise Refused("the judge speaks protocol %r, this host speaks %r" % (metadata.get("protocol"), PROTOCOL))
    answer = {"message": "hello", "protocol": PROTOCOL}
    answer.update((key, metadata[key]) for key in ("plan", "plan_sha256") if key in metadata)
    for key in ("name", "version", "device", "takes", "dtype", "capabilities", "contract"):
        answer[key] = getattr(worker, key)
    for label, path in sorted(worker.files.items()):
        with open(path, "rb") as file:
            answer["file:" + label] = hashlib.sha256(file.read()).hexdigest()
    answer.update(("version:" + name, str(text)) for name, text in sorted(worker.versions.items()))
    return answer


def engines():
    names = (os.path.splitext(name) for name in os.listdir(HERE))
    return sorted(stem for stem, end in names if end == ".py" and stem != "host" and not stem.startswith("test_"))


def module_load(name):
    """The worker's module, under a name of our own: torch.py must not stand in the way of the package torch."""
    path = name if name.endswith(".py") else os.path.join(HERE, name + ".py")
    if not name.endswith(".py") and name not in engines():
        raise Refused("no engine %r: known are %s, or a path ending in .py" % (name, ", ".join(engines())))
    if not os.path.isfile(path):
        raise Refused("no file %s" % path)
    if name.endswith(".py"):  # its helpers may lie beside it; installed packages come first
        sys.path.append(os.path.dirname(os.path.realpath(path)))
    spec = importlib.util.spec_from_file_location("samplegate_worker", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        missing = error.name or "a library"
        how = getattr(module, "INSTALL", "install the package that provides it into this Python's environment")
        raise Refused("cannot import %s in %s (%s): %s" % (missing, sys.executable, plain(error), how))
    except Exception as error:
        raise crashed(path, error)
    if not hasattr(module, "Worker"):
        raise Refused("%s has no class Worker" % path)
    return module, path


def crashed(path, error):
    """A worker's own mistake on the way up: its author needs the traceback, the judge one line."""
    traceback.print_exc()
    return Refused("%s cannot start: %s: %s" % (path, type(error).__name__, plain(error)))


def options_parse(known, pairs):
    """A full dict of the worker's options from its table and key=value words."""
    chosen = {key: value if isinstance(value, str) else value[0] for key, value in known.items()}
    seen = set()
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in known:
            raise Refused("unknown option %r: known are %s" % (pair, ", ".join(sorted(known)) or "none"))
        if key in seen:
            raise Refused("option %s is given twice" % key)
        if not isinstance(known[key], str) and value not in known[key]:
            raise Refused("option %s=%s: known are %s" % (key, value, ", ".join(known[key])))
        seen.add(key)
        chosen[key] = value
    return chosen


def worker_start(name, pairs):
    module, path = module_load(name)
    options = options_parse(getattr(module.Worker, "options", {}), pairs)
    try:
        worker = module.Worker(options)
    except (ValueError, ImportError) as error:
        raise Refused(plain(error))
    except Exception as error:
        raise crashed(path, error)
    label = os.path.basename(path)
    defaults = {"name": label[:-3], "version": "none", "device": "cpu", "takes": "probabilities", "dtype": "f32",
                "capabilities": "", "contract": "{}", "files": {}, "versions": {}}
    for key, default in defaults.items():
        if not isinstance(getattr(worker, key, default), type(default)):
            raise Refused("Worker.%s of %s must be a %s" % (key, path, type(default).__name__))
        setattr(worker, key, getattr(worker, key, default))
    worker.files = dict(worker.files, **{"host.py": os.path.realpath(__file__), label: path})
    worker.versions = dict(worker.versions, python=sys.version.split()[0])
    if not words(worker.takes) or set(words(worker.takes)) - {"logits", "probabilities"}:
        raise Refused("takes=%r of %s: known are logits, probabilities" % (worker.takes, path))
    if worker.dtype not in ("f32", "f16", "bf16"):
        raise Refused("dtype=%r of %s: known are f32, f16, bf16" % (worker.dtype, path))
    if set(words(worker.capabilities)) - CAPABILITIES:
        raise Refused("capabilities=%r of %s: known are %s" % (worker.capabilities, path, ", ".join(sorted(CAPABILITIES))))
    return worker


def serve(worker, source, sink):
    """Answer messages until the input ends."""
    while True:
        message = frame_read(source)
        if message is None:
            return
        metadata, arrays = message
        kind = metadata.get("message")
        if kind == "hello":
            frame_write(sink, answer_hello(worker, metadata))
        elif kind == "sample":
            frame_write(sink, *answer_sample(worker, metadata, arrays))
        else:
            raise Refused("unknown message %r: known are hello, sample" % kind)


def main(arguments):
    # Libraries print to stdout and children read stdin: the frames get private descriptors before anything is imported.
    source = os.fdopen(os.dup(0), "rb", buffering=0)
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.path[:] = [path for path in sys.path if os.path.realpath(path or ".") != HERE]
    try:
        if not arguments:
            raise Refused("usage: host.py NAME [key=value ...]; engines: %s, or a path ending in .py" % ", ".join(engines()))
        if sys.byteorder != "little":
            raise Refused("a little-endian machine is needed")
        serve(worker_start(arguments[0], arguments[1:]), source, sink)
    except BrokenPipeError:  # the judge has gone
        os._exit(1)
    except (Refused, OSError, MemoryError) as error:
        sys.stderr.write("host.py: %s\n" % (" ".join(str(error).split()) or "out of memory"))
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
