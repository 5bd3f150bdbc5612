# SPDX-License-Identifier: MIT
"""host.py: runs one Python sampler as a worker of samplegate, speaking the frames of ../protocol/frame.h.

    python3 host.py NAME [key=value ...]      NAME is an engine (NAME.py beside this file) or a path ending in .py

Standard library only: the environment needs the engine and nothing else; host_frame.py, host_call.py, host_ask.py
and host_time.py lie beside this file. A worker is a file with a class Worker:

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
as); capabilities (words of "temperature noise seeded top_k top_p min_p penalties logit_bias allowed_mask min_tokens
kept_out route resolve": what needs a word that is not there is answered "unsupported"); contract (JSON text of its claims); versions
{name: text}; files {label: path} to be hashed; and, in the module, INSTALL (how to get what it imports). sample() may
raise NotImplementedError(text) to say "unsupported"; any other exception is an error of that chunk, its traceback goes
to stderr, and the worker lives on.

A call has: kind ("logits" or "probabilities"), draws, values (Array [rows, vocab]) and row_index (int32 [draws]); and,
None where not asked for or where every draw has the value that asks for nothing:
    temperature, top_p, min_p, repetition_penalty, frequency_penalty, presence_penalty    [draws] floats
    top_k, min_tokens                                                                     [draws] ints
    noise                                       Array F32 [draws, vocab] of Exp(1) variates
    seeds, positions                            int64 [draws]
    prompt_tokens, output_tokens, stop_ids      [draws] sequences of ids
    logit_bias, allowed                         Array F32, U8 (0: banned) [rows, vocab]
    kept                                        the draws whose kept sets are asked for, e.g. [0, 2]; may be empty
Where call.kept is not empty, sample() returns (tokens, sets): a set for each of these draws, vocab flags of 0 and 1
(bytes, or anything bytes() takes). values, logit_bias and allowed are the same objects for all calls of a chunk.
Rows may be padded: values.shape[1] is always the vocabulary, values.row(i) a row of it; whoever reads values.data must
step by values.stride and leave out what lies behind the vocabulary, as torch.py does with a view.

To be timed (`samplegate bench`) it needs nothing more: sample() is. One that can do better has any of
    times = "multinomial race"          # rules that prepared() knows, its own first ("own": it has one, without a name)
    def prepared(self, call, rule):     # prepare a call under one of them (None: its own) and return the function that makes it,
                                        # or two: the other one runs before each call and is not timed
    def wait(self):                     # until the device is done, if calls queue there
    def tokens(self, token):            # token ids of what that function returned

A worker that says how its engine routes requests (word route) and which parameters they end up with (word resolve) has
ask(question), which returns the answer: dicts as ../engines/ask.h tells them, with plain Python numbers for the tagged
ones. Its contract names the "engine" and the "readings" (of "article-port article-prose upstream") it speaks for. With
takes = "" it draws no tokens and needs neither reset nor sample.
Bad input: one line on stderr, exit status 2.
"""
import hashlib
import importlib.util
import os
import sys
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)  # until main() takes it out again
from host_ask import questions_answer
from host_call import CAPABILITIES, Invalid, chunk_sample
from host_frame import Refused, frame_read, frame_write
from host_time import Timer

PROTOCOL = "1"
HOSTS = ("host.py", "host_ask.py", "host_call.py", "host_frame.py", "host_time.py")
ECHOED = ("cell", "stage", "batch", "chunk", "rule")
TEXT_MAX = 4000  # characters of an exception's text that go into a message


def answer(worker, timer, metadata, arrays):
    """(metadata, arrays) of the answer to a sample, an ask or a time message."""
    echo = {key: metadata[key] for key in ECHOED if key in metadata}
    try:
        if metadata["message"] == "ask":
            return dict(echo, message="answer", text=questions_answer(worker, metadata)), ()
        if metadata["message"] == "time":
            said, arrays = timer.answer(metadata, arrays)
            return dict(echo, **said), arrays
        return dict(echo, message="tokens"), chunk_sample(worker, metadata, arrays)
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
    for key in ("name", "version", "device", "takes", "dtype", "capabilities", "contract", "times"):
        answer[key] = getattr(worker, key)
    if not worker.takes:
        del answer["times"]
    for label, path in sorted(worker.files.items()):
        with open(path, "rb") as file:
            answer["file:" + label] = hashlib.sha256(file.read()).hexdigest()
    answer.update(("version:" + name, str(text)) for name, text in sorted(worker.versions.items()))
    return answer


def engines():
    names = (os.path.splitext(name) for name in os.listdir(HERE))
    return sorted(stem for stem, end in names if end == ".py" and not stem.startswith(("host", "test_")))


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
                "capabilities": "", "contract": "{}", "times": "own", "files": {}, "versions": {}}
    for key, default in defaults.items():
        if not isinstance(getattr(worker, key, default), type(default)):
            raise Refused("Worker.%s of %s must be a %s" % (key, path, type(default).__name__))
        setattr(worker, key, getattr(worker, key, default))
    hosts = {name: os.path.join(HERE, name) for name in HOSTS}
    worker.files = dict(worker.files, **hosts, **{label: path})
    worker.versions = dict(worker.versions, python=sys.version.split()[0])
    asked = {"route", "resolve"} & set(worker.capabilities.split())
    if (not worker.takes.split() and not asked) or set(worker.takes.split()) - {"logits", "probabilities"}:
        raise Refused("takes=%r of %s: known are logits, probabilities" % (worker.takes, path))
    if asked and not callable(getattr(worker, "ask", None)):
        raise Refused("capabilities=%r of %s: it has no method ask" % (worker.capabilities, path))
    if worker.dtype not in ("f32", "f16", "bf16"):
        raise Refused("dtype=%r of %s: known are f32, f16, bf16" % (worker.dtype, path))
    if set(worker.capabilities.split()) - CAPABILITIES:
        raise Refused("capabilities=%r of %s: known are %s" % (worker.capabilities, path, ", ".join(sorted(CAPABILITIES))))
    return worker


def serve(worker, source, sink):
    """Answer messages until the input ends."""
    timer = Timer(worker)
    while True:
        message = frame_read(source)
        if message is None:
            return
        metadata, arrays = message
        kind = metadata.get("message")
        if kind == "hello":
            frame_write(sink, answer_hello(worker, metadata))
        elif kind in ("sample", "ask", "time"):
            frame_write(sink, *answer(worker, timer, metadata, arrays))
        else:
            raise Refused("unknown message %r: known are hello, sample, ask, time" % kind)


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
