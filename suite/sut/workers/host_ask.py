# SPDX-License-Identifier: MIT
"""host_ask.py: questions about routes and parameters, put to a Python worker one by one (../engines/ask.h)."""
import json
import math

from host_call import Invalid

WORD = {"path": "route", "history": "route", "effective": "resolve", "normalize": "resolve"}


def plain(value):
    """{"integer": "5"} and {"float": "0x1p-3"} as numbers, anywhere inside."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"integer"} and isinstance(value["integer"], str):
        return int(value["integer"])
    if set(value) == {"float"} and isinstance(value["float"], str):
        return float.fromhex(value["float"])
    return {key: plain(one) for key, one in value.items()}


def tagged(value):
    """The way back, for numbers that JSON's readers may not hold."""
    if isinstance(value, (list, tuple)):
        return [tagged(one) for one in value]
    if isinstance(value, dict):
        return {key: tagged(one) for key, one in value.items()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 53:
        return {"integer": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def questions_answer(worker, metadata):
    """The text of the answers to a message's questions. Invalid or NotImplementedError."""
    try:
        questions = [plain(question) for question in json.loads(metadata["question"])]
        words = {WORD.get(question["ask"]) for question in questions}
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid("questions that cannot be read: %s: %s" % (type(error).__name__, error))
    for word in words:
        if word not in worker.capabilities.split():
            raise NotImplementedError("no %s" % (word or "question of this kind"))
    return json.dumps([tagged(worker.ask(question)) for question in questions])
