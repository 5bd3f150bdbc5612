"""ask.py ENGINE: put every golden case of an engine to the engine's released wheel, and write golden/witness/ENGINE.json.

Runs in the engine's own environment (ci/witness.sh makes it). The order of cases is that of the golden files, the same wheel gives
the same bytes. Nothing here or beside it imports golden/model/: the witness shares no code with what it checks.
"""
import importlib
import json
import os
import platform
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.dirname(HERE)
# A module of this folder for each kind of engine; its Witness(engine) has what README.md here says.
MODULES = {"sglang-0.5.19": "ask_sglang", "sglang-0.5.20": "ask_sglang", "sglang-0.5.23": "ask_sglang", "vllm-0.5.0": "ask_vllm"}
FILES = tuple(f"predicate/{check}.json" for check in ("path", "history", "forks", "draw", "rows", "candidates", "products")) + \
    tuple(f"defaults/{check}.json" for check in ("effective", "normalize", "tensors", "products"))
# Of the rules in golden/boundary/, the engine's own; engines that are not here are not asked about rows.
RULES = {"vllm-0.5.0": "vllm-0.5.0"}
ROWS = tuple(f"boundary/{check}.json" for check in ("nucleus", "top-k", "min-p", "combined", "penalties", "degenerate"))


class NotAsked(Exception):
    """Why a case cannot be put to the wheel."""


def questions(engine):
    """(file, group, case) of every case that says what this engine's release does."""
    for name in FILES + (ROWS if engine in RULES else ()):
        with open(os.path.join(GOLDEN, name), encoding="utf-8") as file:
            golden = json.load(file)
        for group in golden["groups"]:
            if name in ROWS or group["engine"] == engine and group["as"] == "upstream":
                for case in group["cases"]:
                    yield name, group, case


def wheel_of(distribution, pins, platform_tag=None):
    """The wheel's file name from its own metadata, its hash from the pins that it was installed by. platform_tag: under which it is
    published, where its metadata name another."""
    from importlib.metadata import distribution as find
    found = find(distribution)
    tags = [line.split(": ", 1)[1] for line in found.read_text("WHEEL").splitlines() if line.startswith("Tag: ")]
    python, abi, _ = tags[0].split("-")
    name = f"{distribution}-{found.version}-{python}-{abi}-{platform_tag or '.'.join(tag.split('-', 2)[2] for tag in tags)}.whl"
    with open(pins, encoding="utf-8") as file:
        pin, = [line for line in file if line.startswith(f"{distribution}=={found.version} ")]
    return {"file": name, "sha256": pin.split("sha256:")[1].strip()}


def versions(names):
    from importlib.metadata import version
    return {name: version(name) for name in names}


def dumped(value):
    return json.dumps(value, ensure_ascii=True)


def text_of(record, answers):
    """One case a line."""
    out = ["{"] + [f'  {dumped(key)}: {dumped(value)},' for key, value in record.items()] + ['  "cases": {']
    names = [name for name in answers if answers[name]]
    for name in names:
        lines = [f"      {dumped(identity)}: {dumped(answer)}" for identity, answer in answers[name].items()]
        out += [f"    {dumped(name)}: {{", ",\n".join(lines), "    }" + ("," if name != names[-1] else "")]
    return "\n".join(out + ["  }", "}"]) + "\n"


def expected(engine, case, answer):
    """Of the case, the members that the answer speaks of (the C code compares strictly; this is for whoever runs the witness)."""
    if "expect" in case:
        entry, = [one for one in case["expect"] if RULES[engine] in one["rules"]]
        return {key: answer[key] if key in ("mass", "logits") else entry.get(key) for key in sorted(set(answer) - {"said"} | {"kept", "refused"} & set(entry))}

    def part(key):
        if key == "events":
            return [{name: event[name] for name in ("prefill", "running")} for event in case["events"]]
        return case.get(key)
    keys = (set(answer) - {"said"}) | ({"path", "error", "status", "effective", "normalized", "sha256", "lines"} & set(case))
    return {key: part(key) for key in sorted(keys)}


def ask_all(witness, engine, only):
    answers, asked, kept, differ = {name: {} for name in FILES + ROWS}, 0, 0, []
    for name, group, case in questions(engine):
        if only and only not in f"{name}#{case['id']}":
            continue
        if sys.stderr.isatty():
            print(f"\r{asked:5} asked  {case['id']:.60}\033[K", end="", file=sys.stderr)
        try:
            answer = witness.ask(name, group, case)
            asked += 1
            golden, said = expected(engine, case, answer), {key: value for key, value in answer.items() if key != "said"}
            said |= {key: None for key in golden if key not in said}
            if golden != said:
                differ.append((f"{name}#{case['id']}", golden, answer))
        except NotAsked as why:
            answer = {"not_asked": str(why)}
            kept += 1
        answers[name][case["id"]] = answer
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    for place, golden, answer in differ:
        print(f"differs: {place}\n  golden  {dumped(golden)}\n  witness {dumped(answer)}")
    print(f"witness {engine}: {asked} cases asked, {kept} not asked, {len(differ)} answered differently from the goldens")
    return answers


def main(arguments):
    if not 1 <= len(arguments) <= 2 or arguments[0] not in MODULES:
        sys.exit(f"ask.py: usage: ask.py ENGINE [PART OF FILE#ID]; engines: {' '.join(MODULES)}")
    engine, only = arguments[0], (arguments[1:] or [None])[0]
    sys.path.insert(0, HERE)
    module = importlib.import_module(MODULES[engine])
    witness = module.Witness(engine)
    answers = ask_all(witness, engine, only)
    if only:  # a look at some cases writes nothing
        return
    pins = os.path.join(HERE, engine + ".txt")
    record = {"schema": "samplegate-witness-1", "engine": engine, "wheel": wheel_of(engine.split("-")[0], pins, getattr(witness, "platform_tag", None)),
              "python": ".".join(platform.python_version_tuple()[:2]), "packages": versions(witness.packages),
              "stand_ins": witness.stand_ins, "found": witness.found}
    path = os.path.join(HERE, engine + ".json")
    with open(path + ".partial", "w", encoding="utf-8", newline="\n") as file:
        file.write(text_of(record, answers))
    os.replace(path + ".partial", path)


if __name__ == "__main__":
    sys.modules["ask"] = sys.modules["__main__"]  # modules here import NotAsked from it
    main(sys.argv[1:])
