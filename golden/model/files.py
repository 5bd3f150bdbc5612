"""files.py: where the goldens lie, strict reading of plans, and JSON written with one case a line."""
import json
import os

GOLDEN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def without_duplicates(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError(f"duplicate key in {[key for key, _ in pairs]}")
    return dict(pairs)


def read(name):
    with open(os.path.join(GOLDEN, name), encoding="utf-8") as file:
        return json.load(file, object_pairs_hook=without_duplicates)


def plans():
    """[(name, plan)] of every golden/plans/*.json that judges (those that only time have another schema), in order of name;
    one table name must be one object in all of them."""
    found = [(name, read(f"plans/{name}")) for name in sorted(os.listdir(os.path.join(GOLDEN, "plans"))) if name.endswith(".json")]
    found = [(name, plan) for name, plan in found if plan["schema"] == "samplegate-plan-1"]
    seen = {}
    for name, plan in found:
        for table in plan["tables"]:
            if seen.setdefault(table["name"], table) != table:
                raise ValueError(f"plans/{name}: table {table['name']} differs from the table of that name in another plan")
    return found


def write_text(name, text):
    """Write under its final name only when whole."""
    path = os.path.join(GOLDEN, name)
    with open(path + ".partial", "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    os.replace(path + ".partial", path)


def line(value):
    return json.dumps(value, ensure_ascii=True)


def family_text(family, check, notes, groups):
    """A golden family file: notes and group heads one field a line, cases one a line."""
    out = ['{', '  "schema": "samplegate-golden-1",', f'  "family": {line(family)},', f'  "check": {line(check)},', '  "notes": {']
    out += [f'    {line(flag)}: {line(note)}{"," if k + 1 < len(notes) else ""}' for k, (flag, note) in enumerate(notes.items())]
    out += ['  },', '  "groups": [']
    for g, group in enumerate(groups):
        out.append('    {')
        out += [f'      {line(key)}: {line(value)},' for key, value in group.items() if key != "cases"]
        out.append('      "cases": [')
        cases = group["cases"]
        out += [f'        {line(case)}{"," if k + 1 < len(cases) else ""}' for k, case in enumerate(cases)]
        out += ['      ]', '    }' + ("," if g + 1 < len(groups) else "")]
    return "\n".join(out + ['  ]', '}']) + "\n"
