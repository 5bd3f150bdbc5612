"""equivalence.py: golden/equivalence/tables.json: the law of every (table, temperature) that a plan uses."""
from expectations import DRAWS, expected_total_variation, named, octaves, sum_of_squares, two_thirds_norm
from digits import fifteen
from files import family_text, plans, write_text
from law import Law
from tables import logits_sha256, units_of

VERSION = "1"
GITHUB = "https://github.com/"
NOTES = {
    "tail-truncation": {
        "bug": "The noise lives on a grid of 2^-24 (or 2^-23), so the smallest Exp(1) value or the largest Gumbel value is capped.",
        "effect": "Ids about 18 nats or more under the head are never drawn however many there are; a filter-free model loses its rare tokens.",
        "links": [GITHUB + "vllm-project/vllm/pull/43150", GITHUB + "vllm-project/vllm/pull/47524", GITHUB + "jax-ml/jax/pull/26974"]},
    "index-order-ties": {
        "bug": "Noise values on a coarse grid coincide, and the tie goes to the lowest (or last) id.",
        "effect": "Among equally likely ids those with low numbers come out too often; two paths with different tie rules disagree.",
        "links": [GITHUB + "ohdearquant/lattice/issues/280", GITHUB + "NVIDIA/TensorRT-Model-Connect/pull/1157"]},
    "cdf-rounding": {
        "bug": "The CDF is summed one fp32 after the other, so it ends below or above 1 and its steps are uneven.",
        "effect": "At a vocabulary that is no power of two the last ids are starved, or the last one takes every miss.",
        "links": [GITHUB + "torch/torch7/issues/453", GITHUB + "pytorch/pytorch/issues/43115", GITHUB + "pytorch/pytorch/issues/28390"]},
    "temperature": {
        "bug": "The temperature is rounded, applied twice, ignored, or applied on the wrong side of another step.",
        "effect": "Every answer is a little too bold or too cautious; no single token looks wrong.",
        "links": [GITHUB + "vllm-project/vllm/pull/890", GITHUB + "vllm-project/tpu-inference/pull/1385"]},
    "impossible-id": {
        "bug": "An id of probability zero is drawn: a uniform of exactly 0 or 1, noise that underflows to 0, or 0/0.",
        "effect": "A banned or padded token appears in the text: broken grammar, foreign characters, a crash in the tokenizer.",
        "links": [GITHUB + "pytorch/pytorch/issues/4858", GITHUB + "pytorch/pytorch/issues/192812", GITHUB + "vllm-project/vllm-metal/pull/629"]},
    "lost-id": {
        "bug": "One id cannot be reached, or an id at the end of the vocabulary takes what others miss.",
        "effect": "An end-of-text or tool token that is never drawn, at a rate no average shows.",
        "links": [GITHUB + "pytorch/pytorch/issues/43115", GITHUB + "torch/torch7/issues/453"]},
    "low-precision": {
        "bug": "Logits, probabilities or noise are kept in bf16 or fp16 on the way to the draw.",
        "effect": "The law moves by up to a percent or more, differently on each row.",
        "links": [GITHUB + "jax-ml/jax/issues/30879", GITHUB + "InternLM/lmdeploy/pull/1239"]},
    "published-table": {
        "bug": "A total variation is quoted without the table it was measured on.",
        "effect": "The plug-in distance of an exact sampler runs from 0.002 to 0.1 with the number of live ids, so the figure alone says little.",
        "links": [GITHUB + "sgl-project/sglang/pull/38117"]},
}


def flags(plan_name, table, temperature):
    """The kinds of bug that this table shows best."""
    kind, vocab = table["kind"], table.get("vocab", len(table.get("logits", [])))
    found = []
    if kind == "head" or (kind == "normal" and vocab > 100_000):
        found.append("tail-truncation")
    if kind == "flat" or len(set(table.get("logits", [0, 1]))) == 1:
        found.append("index-order-ties")
    if vocab > 1000 and kind != "head":
        found.append("cdf-rounding")
    if temperature != 1 or (kind == "zipf" and vocab < 1000) or (kind == "list" and vocab > 2):
        found.append("temperature")
    if "masked" in table:
        found.append("impossible-id")
    if kind in ("flat", "zipf", "head") and vocab <= 1000:
        found.append("lost-id")
    if kind in ("zipf", "normal", "list"):
        found.append("low-precision")
    if plan_name.startswith("published"):
        found.append("published-table")
    return found


def case(identity, flag_list, table, temperature):
    units = units_of(table)
    law = Law(units, temperature)
    return {
        "id": identity,
        "flags": flag_list,
        "table": table,
        "temperature": temperature,
        "logits_sha256": logits_sha256(units),
        "named": named(law),
        "octaves": octaves(law),
        "sum_of_squares": fifteen(sum_of_squares(law)),
        "two_thirds_norm": fifteen(two_thirds_norm(law)),
        "expected_total_variation": fifteen(expected_total_variation(law, DRAWS)),
    }


def wanted():
    """{id: (first plan, flags, table, temperature)} over the cells of every plan; the flags of all its plans together."""
    found = {}
    for plan_name, plan in plans():
        tables = {table["name"]: table for table in plan["tables"]}
        for cell in plan["cells"]:
            if "table" not in cell:  # its family's golden holds the rows
                continue
            table, temperature = tables[cell["table"]], cell.get("temperature", 1)
            identity = table["name"] if temperature == 1 else f"{table['name']}@{temperature}"
            entry = found.setdefault(identity, (plan_name, [], table, temperature))
            entry[1].extend(flag for flag in flags(plan_name, table, temperature) if flag not in entry[1])
    return found


def write():
    groups = {}
    for identity, (plan_name, flag_list, table, temperature) in wanted().items():
        source = f"golden/model/equivalence.py on golden/plans/{plan_name}"
        group = groups.setdefault(plan_name, {"source": source, "version": VERSION, "cases": []})
        group["cases"].append(case(identity, flag_list, table, temperature))
    write_text("equivalence/tables.json", family_text("equivalence", "tables", NOTES, list(groups.values())))
    return {name: len(group["cases"]) for name, group in groups.items()}
