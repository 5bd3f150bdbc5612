# SPDX-License-Identifier: MIT
"""sampler.py: the smallest worker, an inverse CDF in plain Python: run --sut python:suite/sut/examples/sampler.py"""
import bisect
import itertools
import random


class Worker:
    takes = "probabilities"

    def __init__(self, options):
        self.values = None

    def reset(self, seed):
        self.random = random.Random(seed)

    def sample(self, call):
        if self.values is not call.values:  # one chunk, one set of rows
            self.values = call.values
            self.cdf = [list(itertools.accumulate(call.values.row(r))) for r in range(call.values.shape[0])]
        # u < cdf[-1] strictly, and bisect_right steps over ids of probability zero.
        return [bisect.bisect_right(self.cdf[r], self.random.random() * self.cdf[r][-1]) for r in call.row_index]
