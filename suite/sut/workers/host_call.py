# SPDX-License-Identifier: MIT
"""host_call.py: cuts a sample message into the calls of its batch size, every number and array checked before, and puts
the answers of a worker together again. host.py says what a worker sees of it."""
import array
import re

from host_frame import Array

DRAWS_MAX = 1 << 28
# Parameters of each draw: dtype, the value that asks for nothing, the capability that any other value needs.
PARAMETERS = {"temperature": ("F64", 1, "temperature"), "top_k": ("I64", -1, "top_k"), "top_p": ("F64", 1, "top_p"),
              "min_p": ("F64", 0, "min_p"), "repetition_penalty": ("F64", 1, "penalties"),
              "frequency_penalty": ("F64", 0, "penalties"), "presence_penalty": ("F64", 0, "penalties"),
              "min_tokens": ("I64", 0, "min_tokens")}
LISTS = {"prompt_tokens": "prompt_offsets", "output_tokens": "output_offsets", "stop_ids": "stop_offsets"}
ROWS = {"logit_bias": ("F32", "logit_bias"), "allowed": ("U8", "allowed_mask")}
SAMPLE_ARRAYS = {"values", "row_index", "noise", "seeds", "positions", *PARAMETERS, *LISTS, *LISTS.values(), *ROWS}
CAPABILITIES = {"noise", "seeded", "kept_out", "route", "resolve"} | {word for _, _, word in PARAMETERS.values()} | {word for _, word in ROWS.values()}
CODES = {"F64": "d", "I64": "q"}


class Invalid(Exception):
    """A well-framed message that makes no sense: answered by `error`."""


class Call:
    """One batch handed to Worker.sample(); see the top of host.py."""


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


def parameter(arrays, name, draws):
    """[draws] numbers, or None where all ask for nothing."""
    dtype, off, _ = PARAMETERS[name]
    found = checked(arrays, name, [dtype], [(1,), (draws,)])
    if found is None:
        return None
    numbers = found.data.cast(CODES[dtype]).tolist()
    if all(value == off for value in numbers):
        return None
    return numbers * draws if len(numbers) == 1 else numbers


def lists(arrays, name, draws):
    """[draws] views of int64 ids, None where the message has no such lists."""
    ids, offsets = arrays.get(name), checked(arrays, LISTS[name], ["I64"], [(draws + 1,)])
    if ids is None and offsets is None:
        return None
    if ids is None or offsets is None or ids.dtype != "I64" or len(ids.shape) != 1:
        raise Invalid("%s I64 [n] and %s I64 [draws + 1] come together" % (name, LISTS[name]))
    ids, ends = ids.data.cast("q"), offsets.data.cast("q").tolist()
    if ends[0] < 0 or ends[-1] > len(ids) or any(first > last for first, last in zip(ends, ends[1:])):
        raise Invalid("%s must rise within the %d values of %s" % (LISTS[name], len(ids), name))
    return [ids[first:last] for first, last in zip(ends, ends[1:])]


def values_checked(worker, metadata, arrays):
    """values as an Array [rows, vocab], whatever its stride."""
    values = arrays.get("values")
    if values is None or len(values.shape) != 2 or 0 in values.shape or values.dtype.lower() != worker.dtype:
        raise Invalid("values [rows, vocab] of dtype %s are needed" % worker.dtype)
    rows, stride = values.shape
    vocab = number(metadata, "columns", 1, stride) if "columns" in metadata else stride
    return Array(values.dtype, (rows, vocab), values.data, stride)


def shared_fields(worker, metadata, arrays, draws):
    """What all calls of a message have in common or are cut from: {field of Call: whole array}."""
    whole = {"kind": metadata.get("kind")}
    if whole["kind"] not in ("logits", "probabilities"):
        raise Invalid("kind is %r, not logits or probabilities" % whole["kind"])
    if whole["kind"] not in worker.takes.split():
        raise NotImplementedError("takes %s, not %s" % (worker.takes, whole["kind"]))
    if metadata.get("kept") not in (None, "1"):
        raise Invalid("kept is %r; 1 or nothing is needed" % metadata["kept"])
    whole["values"] = values_checked(worker, metadata, arrays)
    rows, vocab = whole["values"].shape
    index = checked(arrays, "row_index", ["I32"], [(draws,)])
    whole["row_index"] = index.data.cast("i") if index else memoryview(bytearray(4 * draws)).cast("i")
    if index and not 0 <= min(whole["row_index"]) <= max(whole["row_index"]) < rows:
        raise Invalid("row_index goes outside the %d rows" % rows)
    whole["noise"] = checked(arrays, "noise", ["F32"], [(draws, vocab)])
    for name in ("seeds", "positions"):
        found = checked(arrays, name, ["I64"], [(draws,)])
        whole[name] = found and found.data.cast("q")
    if (whole["seeds"] is None) != (whole["positions"] is None) or (whole["seeds"] and whole["noise"]):
        raise Invalid("seeds and positions come together, and not with noise")
    whole.update((name, parameter(arrays, name, draws)) for name in PARAMETERS)
    whole.update((name, lists(arrays, name, draws)) for name in LISTS)
    whole.update((name, checked(arrays, name, [dtype], [(rows, vocab)])) for name, (dtype, _) in ROWS.items())
    return whole


def needed(whole, metadata):
    """The capability words that the message asks for."""
    words = {"noise": whole["noise"], "seeded": whole["seeds"], "kept_out": metadata.get("kept")}
    for name, (_, _, word) in PARAMETERS.items():
        words[word] = words.get(word) or whole[name]
    words.update((word, whole[name]) for name, (_, word) in ROWS.items())
    return [word for word, asked in words.items() if asked is not None]


def calls(worker, metadata, arrays):
    """Check a sample message whole, then yield its calls in order. Invalid or NotImplementedError."""
    draws, batch = number(metadata, "draws", 1, DRAWS_MAX), number(metadata, "batch", 1, DRAWS_MAX)
    number(metadata, "seed", 0, (1 << 64) - 1)
    unknown = sorted(set(arrays) - SAMPLE_ARRAYS)
    if unknown:
        raise NotImplementedError("this host knows no array %s" % ", ".join(unknown))
    whole = shared_fields(worker, metadata, arrays, draws)
    missing = [word for word in needed(whole, metadata) if word not in worker.capabilities.split()]
    if missing:
        raise NotImplementedError("no " + " ".join(missing))
    by_row, answered = {"kind", "values", *ROWS}, set()
    for first in range(0, draws, batch):
        last, call = min(first + batch, draws), Call()
        call.draws = last - first
        for name, value in whole.items():
            if value is None or name in by_row:
                setattr(call, name, value)
            else:
                setattr(call, name, value.slice(first, last) if isinstance(value, Array) else value[first:last])
        call.kept = None
        if "kept" in metadata:  # a row's first draw decides
            call.kept = [d for d, row in enumerate(call.row_index) if row not in answered and not answered.add(row)]
        yield call


def tokens_of(answer, draws):
    """Token ids as int32 bytes, of exactly `draws` tokens."""
    if not isinstance(answer, (bytes, bytearray)):
        answer = array.array("i", answer).tobytes()
    if len(answer) != 4 * draws:
        raise ValueError("sample() returned %d tokens for %d draws" % (len(answer) // 4, draws))
    return answer


def chunk_sample(worker, metadata, arrays):
    """All calls of a message: the arrays of its answer. Exceptions of calls() and of the worker."""
    token, kept = bytearray(), None
    for call in calls(worker, metadata, arrays):
        rows, vocab = call.values.shape
        if not token:
            worker.reset(int(metadata["seed"]))
            kept = None if call.kept is None else bytearray(rows * vocab)
        answer = worker.sample(call)
        if call.kept:
            if not isinstance(answer, tuple) or len(answer) != 2:
                raise ValueError("sample() was asked for kept and must return (tokens, kept)")
            answer, sets = answer
            kept_take(kept, call, sets)
        token += tokens_of(answer, call.draws)
    answers = [("token", "I32", (len(token) // 4,), token)]
    return answers if kept is None else answers + [("kept", "U8", (rows, vocab), kept)]


def kept_take(kept, call, sets):
    """Copy the sets of the draws call.kept to their rows."""
    vocab, sets = call.values.shape[1], [bytes(one) for one in sets]
    if len(sets) != len(call.kept) or any(len(one) != vocab or max(one) > 1 for one in sets):
        raise ValueError("sample() must return kept as %d sets of %d flags, 0 or 1" % (len(call.kept), vocab))
    for draw, one in zip(call.kept, sets):
        row = call.row_index[draw]
        kept[row * vocab:(row + 1) * vocab] = one
