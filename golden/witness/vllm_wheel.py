"""vllm_wheel.py: the classes of the installed vLLM 0.5.0, and what had to be put in the place of others to import them.

Import this before anything else of vllm.
"""
import logging
import sys
import types
import warnings

STAND_INS = [
    "vllm.model_executor.guided_decoding.get_guided_decoding_logits_processor answers None, as it does for a body without guided decoding "
    "(no case has any): the real one imports two grammar libraries",
    "vllm.model_executor.sampling_metadata.is_pin_memory_available answers False: there is no GPU to copy to",
    "vllm.engine.async_llm_engine.AsyncLLMEngine behind the servers keeps the SamplingParams that they hand over and answers with one finished "
    "token: there is no model",
    "vllm.config.ModelConfig behind the servers has a context of 2^40 tokens and a tokenizer that knows one word",
    "the model: logits are given, and are all zero where only the passes over them are asked for",
    "the detokenizer: texts of tokens are not looked at",
    "vllm.sampling_params.SamplingParams.best_of is set to 1 after construction for candidates of a beam of one, which the constructor refuses",
]


def stand_in_guided_decoding():
    module = types.ModuleType("vllm.model_executor.guided_decoding")

    async def no_processor(*_):
        return None

    module.get_guided_decoding_logits_processor = no_processor
    sys.modules[module.__name__] = module


logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")
stand_in_guided_decoding()

import torch  # noqa: E402
from vllm import SamplingParams  # noqa: E402,F401
from vllm.config import CacheConfig, SchedulerConfig  # noqa: E402,F401
from vllm.core.scheduler import Scheduler  # noqa: E402,F401
from vllm.engine.output_processor.single_step import SingleStepOutputProcessor  # noqa: E402,F401
from vllm.engine.output_processor.stop_checker import StopChecker  # noqa: E402,F401
from vllm.model_executor.layers import logits_processor, sampler  # noqa: E402,F401
from vllm.model_executor import sampling_metadata  # noqa: E402
from vllm.model_executor.sampling_metadata import SamplingMetadata, SamplingTensors, SequenceGroupToSample  # noqa: E402,F401
from vllm.outputs import CompletionOutput, RequestOutput  # noqa: E402,F401
from vllm.sequence import Logprob, Sequence, SequenceData, SequenceGroup, SequenceGroupMetadata, SequenceStatus  # noqa: E402,F401
from vllm.utils import Counter  # noqa: E402,F401

sampling_metadata.is_pin_memory_available = lambda: False
torch.set_num_threads(1)
