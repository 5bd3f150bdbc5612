# SPDX-License-Identifier: MIT
"""host_frame.py: reads and writes the frames of ../protocol/frame.h for host.py, with the standard library alone."""
import array
import json
import math
import struct

FRAME_BYTES_MAX = 1 << 32
ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "F64": 8, "I32": 4, "I64": 8, "U8": 1}


class Refused(Exception):
    """What was asked for cannot be started or understood: one line, exit status 2."""


class Array:
    """dtype ("F32", ...), shape (a tuple), stride (elements from one row to the next) and data (a writable memoryview of
    bytes, row-major). Rows lie one behind the other, stride = shape[1], unless the message pads its rows: data then has
    shape[0] * stride elements, and what lies behind the first shape[1] of a row is nobody's."""

    def __init__(self, dtype, shape, data, stride=None):
        self.dtype, self.shape, self.data = dtype, shape, data
        self.stride = math.prod(shape[1:]) if stride is None else stride

    def slice(self, first, last):
        """Rows first to last - 1, sharing the data."""
        step = self.stride * ITEM_BYTES[self.dtype]
        return Array(self.dtype, (last - first,) + self.shape[1:], self.data[first * step:last * step], self.stride)

    def row(self, index):
        """Row `index`: Python floats, whatever the dtype; ints of a U8."""
        item = ITEM_BYTES[self.dtype]
        start = index * self.stride * item
        data = self.data[start:start + self.shape[1] * item]
        if self.dtype == "U8":
            return data.tolist()
        if self.dtype == "F16":
            return list(struct.unpack("<%de" % self.shape[1], data))
        if self.dtype == "BF16":  # the upper half of an fp32
            data = array.array("I", [half << 16 for half in data.cast("H")])
            return memoryview(data).cast("B").cast("f").tolist()
        return data.cast("f").tolist()


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
