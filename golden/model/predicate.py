"""predicate.py: which path of SGLang's sampler a batch takes, and what a running batch remembers, from first principles.

A batch is judged by what its requests ask for, as sets: a request asks to filter by top_k, top_p or min_p, or is greedy. What
the running batch remembers is not stepped along but recomputed from its whole history: the requests whose flags are in it are
all those of the prefill batches adopted since it last had no rows, whether or not they are still there.
"""
from defaults import TOP_K_ALL, Refused, is_number, unordered

INT32_MAX = 2**31 - 1
NEEDS = ("top_k", "top_p", "min_p")
LETTERS = {"greedy": "G", "top_k": "k", "top_p": "p", "min_p": "m"}
EMPTY = "a batch needs at least one request"
SEEDED_MIN_P = "With sampling seed, multinomial_with_seed will provide wrong results"
# What Python says of a tensor's values and indices times a tensor, where ascend's kernel has filtered and min_p is to.
ASCEND_MIN_P = "only integer tensors of a single element can be converted to an index"


def profile(reading, params):
    """What one normalized request is, as a set of "greedy", "top_k", "top_p", "min_p"."""
    k, top_p, min_p = params["top_k"], params["top_p"], params["min_p"]
    if reading == "upstream":  # verified: k and min_p are numbers
        if not k <= INT32_MAX:
            raise Refused(0, f"top_k {k} does not fit the batch's int32 tensor")
    else:
        if not is_number(k):
            raise unordered("<=", k, 1)
        if not is_number(min_p):
            raise unordered(">", min_p, 0)
    asks = {"greedy": k <= 1, "top_k": k != TOP_K_ALL, "top_p": top_p != 1.0, "min_p": min_p > 0}
    finite = frozenset([("top_k_bound", int(k))] if 1 <= k < TOP_K_ALL else ["whole vocabulary"])
    seed = params.get("seed")
    bad = not (seed is None or is_number(seed)) or seed is not None and abs(seed) >= 2**63 and seed != -2**63
    return frozenset(name for name, asked in asks.items() if asked) | finite | frozenset(["bad seed"] if bad else [])


def together(profiles):
    """Greedy only if all are; a filter if any asks for it."""
    found = frozenset().union(*profiles) - {"greedy"}
    return found | {"greedy"} if all("greedy" in one for one in profiles) else found


def bound(flags):
    """The largest top_k if every request has a finite one, else None."""
    found = [one[1] for one in flags if isinstance(one, tuple)]
    return None if "whole vocabulary" in flags or not found else max(found)


def bounded_by(flags, profiles):
    """The flags, with the bound of these requests alone."""
    of = lambda one: isinstance(one, tuple) or one == "whole vocabulary"
    return frozenset(one for one in flags if not of(one)) | frozenset(one for profile in profiles for one in profile if of(one))


def letters(flags):
    return "".join(letter if name in flags else "-" for name, letter in LETTERS.items())


def of_letters(text):
    return frozenset(name for name, letter in LETTERS.items() if letter in text)


def switch_is_on(text):
    """SGLANG_OPT_USE_GUMBEL_SAMPLE as the environment has it, None if unset: only these four spellings turn it off, in any case."""
    return text is None or text.lower() not in ("0", "false", "no", "n")


def backend_of(engine, server):
    device, asked = server.get("device", "cuda"), server.get("backend")
    if device == "cpu" or server.get("deterministic") and asked != "ascend":
        return "pytorch"
    if engine == "sglang-0.5.23" and asked == "intel_xpu" and device != "xpu":  # looked at when the backend is settled
        raise Refused(0, f"--sampling-backend intel_xpu requires --device xpu, got --device {device}")
    return asked or {"cuda": "flashinfer", "xpu": "intel_xpu" if engine == "sglang-0.5.23" else "pytorch"}[device]


def draft_path(engine, server):
    """The draft sampler has the switch in every version, and in 0.5.23 seeds."""
    backend = backend_of(engine, server)
    if engine == "sglang-0.5.23" and server.get("deterministic"):
        return {"path": "deterministic", "seeded": True, "backend": backend, "noise": "token"}
    return {"path": "gumbel" if switch_is_on(server.get("switch")) else "multinomial", "seeded": False, "backend": backend}


def path(reading, engine, server, flags):
    """{"path", and upstream also "seeded", "backend", and where they are there "noise" and "top_k_bound"} of a batch with these flags."""
    deterministic = server.get("deterministic", False)
    if reading == "upstream" and server.get("draft"):
        return draft_path(engine, server)
    if reading == "upstream" and backend_of(engine, server) and deterministic and "bad seed" in flags:
        raise Refused(0, "a seed does not fit the batch's int64 tensor")
    race = engine != "sglang-0.5.19" and switch_is_on(server.get("switch"))
    if reading == "upstream" and backend_of(engine, server) == "ascend":
        race = False
    draw = "gumbel" if reading == "article-port" or race else "multinomial"
    filtered = bool(flags & frozenset(NEEDS))
    if "greedy" in flags:
        name = "greedy"
    elif deterministic and (reading == "article-prose" or not filtered):
        name = "deterministic"
    else:
        name = "filtered" if filtered else draw
    if reading != "upstream":
        return {"path": name}
    seeded, backend, most = deterministic and name != "greedy", backend_of(engine, server), bound(flags)
    if seeded and "min_p" in flags and backend == "pytorch":
        raise Refused(0, SEEDED_MIN_P)
    kernel = name == "filtered" and backend == "ascend" and most is not None and most <= 1024
    if kernel and "min_p" in flags:
        raise Refused(0, ASCEND_MIN_P)
    told = {"path": name, "seeded": seeded, "backend": backend}
    if seeded:  # ascend's kernel leaves tokens where they are
        told["noise"] = "rank" if name == "filtered" and not kernel else "token"
    elif engine == "sglang-0.5.23" and name == "filtered" and backend == "pytorch" and most is not None:
        told["top_k_bound"] = most
    return told


def path_of_batch(reading, engine, server, requests):
    """requests: normalized and verified parameters."""
    if not requests:
        raise Refused(0, EMPTY)
    return path(reading, engine, server, together([profile(reading, one) for one in requests]))


class History:
    """events: ("admit", id) | ("join",) | ("finish", id) | ("filter",); profiles: {id: set}. Everything is derived from `events`."""

    def __init__(self, reading, profiles, events):
        self.reading, self.profiles, self.events = reading, profiles, events
        self.joins = [t for t, event in enumerate(events) if event[0] == "join"]
        self.admitted = {event[1]: t for t, event in enumerate(events) if event[0] == "admit"}
        self.finished = {event[1]: t for t, event in enumerate(events) if event[0] == "finish"}
        self.join_of = {one: min((t for t in self.joins if t > when), default=None) for one, when in self.admitted.items()}

    def is_marked(self, one, now):
        """Joined unfinished, finished since, and no filter has come by before event `now`."""
        join, end = self.join_of[one], self.finished.get(one, now)
        return join is not None and join < end < now and not any(event[0] == "filter" for event in self.events[end:now])

    def has_row(self, one, now):
        """In the running batch before event `now`. In the article's words a request that finishes is dropped at once; upstream its
        row stays until the next filter, and a prefill that was waiting already is adopted before that."""
        join, end = self.join_of[one], self.finished.get(one, now)
        return join is not None and join < now and (end >= now or self.reading == "upstream" and self.is_marked(one, now))

    def rows(self, now):
        return [one for one in self.admitted if self.has_row(one, now)]

    def survives(self, join):
        """A prefill batch is adopted if a request of it is still unfinished."""
        return any(self.join_of[one] == join and self.finished.get(one, join) >= join for one in self.admitted)

    def contributors(self):
        """The requests whose flags the running batch has now."""
        now = len(self.events)
        adopted = [t for t in self.joins if self.survives(t)]
        fresh = max((t for t in adopted if not self.rows(t)), default=None)
        return [one for one, join in self.join_of.items() if join is not None and fresh is not None and join >= fresh and join in adopted]

    def there(self):
        """The requests that have a row upstream: (in the prefill batch, in the running batch)."""
        return [one for one, join in self.join_of.items() if join is None], self.rows(len(self.events))

    def state(self):
        """(flags of the prefill batch, flags of the running batch); None where it has no rows."""
        now = len(self.events)
        waiting = [one for one, join in self.join_of.items() if join is None]
        unfinished = [one for one in waiting if one not in self.finished]
        running = self.rows(now)
        if self.reading == "article-port":  # a batch is its unfinished requests, and nothing is remembered
            sources = unfinished, running
        else:
            there = waiting if self.reading == "upstream" else unfinished
            sources = waiting if there else [], self.contributors() if running else []
        return tuple(together([self.profiles[one] for one in source]) if source else None for source in sources)


class MixedHistory:
    """The same upstream where mixed chunks are on: ("mix",) puts the running batch into the prefill batch. Told by sets of requests:
    who is in a batch, and whose flags it has. every_round: a round of the scheduler drops the ended rows of the running batch whatever
    it comes to, after it has adopted a prefill batch and before it makes a new one."""

    def __init__(self, profiles, events, every_round=False):
        self.profiles, self.finished, self.every_round = profiles, set(), every_round
        self.prefill, self.running = ([], set()), ([], set())
        for event in events:
            getattr(self, event[0])(*event[1:])

    def round(self):
        if self.every_round:
            self.filter()

    def admit(self, one):
        if not self.prefill[0]:
            self.round()
        self.prefill = self.prefill[0] + [one], self.prefill[1] | {one}

    def finish(self, one):
        self.finished.add(one)

    def live(self, rows):
        return [one for one in rows if one not in self.finished]

    def filter(self):
        self.running = self.live(self.running[0]), self.running[1]

    def join(self):
        rows, whose = self.live(self.prefill[0]), self.prefill[1]
        if rows:
            self.running = (self.running[0] + rows, self.running[1] | whose) if self.running[0] else (rows, whose)
        self.prefill = [], set()
        self.round()

    def mix(self):
        if not self.prefill[0]:
            return
        rows = self.live(self.running[0])
        if rows:
            self.prefill = self.prefill[0] + rows, self.prefill[1] | self.running[1]
        self.running = [], set()

    def there(self):
        return self.prefill[0], self.running[0]

    def state(self):
        return tuple(together([self.profiles[one] for one in whose]) if rows else None for rows, whose in (self.prefill, self.running))
