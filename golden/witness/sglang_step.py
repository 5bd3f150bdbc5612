"""sglang_step.py: one step of SGLang's own sampler, watched: the path it takes, what its noise is made for, what it fails of.

Real: the settings' resolution, EnvBool, SamplingBatchInfo and Sampler.forward with all that it calls on a CPU. Rows ascend, so that
a token's id and its rank in the sorted row never agree, and are long enough that no default of the engine's is met by accident.
"""
import inspect
import os
from array import array
from types import SimpleNamespace

import numpy
import torch
from sglang.kernels.ops.sampling import murmur_hash
from sglang.srt.arg_groups import cuda_graph_hook, overrides, platform_hook
from sglang.srt.layers import sampler
from sglang.srt.layers.logits_processor import LogitsProcessorOutput
from sglang.srt.managers.schedule_batch import Req, ScheduleBatch
from sglang.srt.runtime_context import get_context, get_exec, get_parallel, override_platform
from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo
from sglang.srt.server_args import ServerArgs
from sglang.srt.speculative import spec_utils

from sglang_body import Refused

STAND_INS = [
    "murmur_hash32: the same hash in numpy; the engine's kernels run on a GPU or are in a package that lacks the one for CPUs",
    "flashinfer's and XPU's fused kernels: argmax; asked is only that they are called",
    "torch_npu.npu_top_k_top_p: the logits as they are; asked is what is done around it",
    "torch.multinomial where it refuses a row, of which NaN has come (a temperature of 0 that is_normalized kept): index 0; asked is which draw is made",
    "tensor-parallel group: none",
    "device: 'cuda' and 'xpu' are told to the engine's resolution of settings, tensors are on the CPU; CUDA's flashinfer is said to be there",
]
SWITCH, WIDTH = "SGLANG_OPT_USE_GUMBEL_SAMPLE", 2048
torch.set_num_threads(1)  # rows are short
MASK = numpy.uint64(0xFFFFFFFF)
U = numpy.uint64


def hash32(seed, positions, columns):
    """MurmurHash3 x86_32 over seed (two words), position and column, starting from 0."""
    seed = seed.view(torch.int64) if seed.dtype == torch.uint64 else seed
    seed = numpy.asarray(seed.tolist(), dtype=numpy.int64).view(numpy.uint64)[:, None]
    position = numpy.asarray(positions.tolist(), dtype=numpy.int64).view(numpy.uint64)[:, None] & MASK
    column = numpy.asarray(columns.tolist(), dtype=numpy.int64).view(numpy.uint64)[None, :] & MASK
    h = numpy.zeros((1, 1), dtype=numpy.uint64)
    turn = lambda x, r: ((x << U(r)) | (x >> U(32 - r))) & MASK
    for k in (seed & MASK, seed >> U(32), position, column):
        k = turn(k * U(0xCC9E2D51) & MASK, 15) * U(0x1B873593) & MASK
        h = (turn(h ^ k, 13) * U(5) + U(0xE6546B64)) & MASK
    h = h ^ U(16)  # bytes hashed
    h = (h ^ (h >> U(16))) * U(0x85EBCA6B) & MASK
    h = (h ^ (h >> U(13))) * U(0xC2B2AE35) & MASK
    return torch.from_numpy((h ^ (h >> U(16))).astype(numpy.int64))


SEEN = []  # (name, detail) of what a step called, in order


def watched(name, function, detail=lambda result, *args, **kwargs: None):
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        SEEN.append((name, detail(result, *args, **kwargs)))
        return result
    return call


def lenient(multinomial):
    def call(probs, *args, **kwargs):
        try:
            return multinomial(probs, *args, **kwargs)
        except RuntimeError as error:
            if "probability tensor contains" not in str(error):
                raise
            return torch.zeros(len(probs), 1, dtype=torch.int64)
    return call


def fused(name):
    return watched("filter", lambda logits, *args, **kwargs: torch.argmax(logits, -1).to(torch.int32), lambda *args, **kwargs: name)


GROUP = SimpleNamespace(device_group=None)
HELD = get_parallel().override(tp_group=GROUP)  # for as long as this module lives


def put_watches():
    for module in (sampler, murmur_hash):
        module.murmur_hash32 = hash32
    sampler.get_tp_group = lambda: GROUP
    HELD.__enter__()
    sampler.torch_npu = SimpleNamespace(npu_top_k_top_p=lambda logits, top_ps, top_ks: logits.clone())
    for name in ("top_k_top_p_sampling_from_probs", "min_p_sampling_from_probs"):
        setattr(sampler, name, fused(name))
    for name in ("top_k_renorm_prob", "top_p_renorm_prob"):
        setattr(sampler, name, lambda probs, _: probs)
    filter_torch = sampler.top_k_top_p_min_p_sampling_from_probs_torch
    bound = lambda result, *args, **kwargs: (kwargs.get("max_top_k"), args[5])
    sampler.top_k_top_p_min_p_sampling_from_probs_torch = watched("filter", filter_torch, bound)
    sampler.top_k_top_p_min_p_sampling_from_logits_ascend = watched("filter", sampler.top_k_top_p_min_p_sampling_from_logits_ascend)
    sampler.multinomial_with_seed = watched("seeded", sampler.multinomial_with_seed, lambda result, *args, **kwargs: result.view(-1).tolist())
    torch.multinomial = watched("multinomial", lenient(torch.multinomial))
    torch.argmax = watched("argmax", torch.argmax)
    torch.topk = watched("topk", torch.topk, lambda result, *args, **kwargs: kwargs.get("k"))
    exponential = torch.Tensor.exponential_
    torch.Tensor.exponential_ = watched("exponential", exponential)


put_watches()
if hasattr(spec_utils, "row_argmax"):  # from 0.5.23 on
    spec_utils.row_argmax = lambda scores: scores.argmax(dim=-1)
    STAND_INS.append("row_argmax in the draft sampler, a kernel for a GPU: torch's argmax")


def resolved_backend(device, asked, deterministic):
    """The backend in force, by the engine's own steps, in the order of its resolution pipeline."""
    record = ServerArgs(model_path="dummy", device=device, sampling_backend=asked, enable_deterministic_inference=deterministic)
    record.resolve_once()
    with override_platform(has_flashinfer=device == "cuda", is_cuda=device == "cuda", is_xpu=device == "xpu"):
        platform_hook.handle_cpu_backends(record)
        if device == "xpu" and "sampling_backend" in inspect.getsource(platform_hook.handle_xpu_backends):
            cuda_graph_hook.parse_cuda_graph_config(record)  # an earlier step, whose result this one reads
            platform_hook.handle_xpu_backends(record)
        overrides.run_post_process_pass(record, overrides._sampling_backend_default)
        if deterministic:  # its hook calls this at once
            overrides.run_post_process_pass(record, overrides._deterministic_sampling_backend)
    if validate is not None:
        validate(overrides.resolving_view(record).sampling_backend, device)
    return overrides.resolving_view(record).sampling_backend


try:
    from sglang.srt.arg_groups.validation_hook import validate_device_sampling_backend as validate
except ImportError:  # 0.5.19 and 0.5.20 have no backend that a device can lack
    validate = None

SETTINGS, INSTALLED = {}, []


def install(server):
    """Publish these options as a started server has them. Refused where the engine does not start with them."""
    if server.get("switch") is None:
        os.environ.pop(SWITCH, None)
    else:
        os.environ[SWITCH] = server["switch"]
    key = (server.get("device", "cuda"), server.get("backend"), bool(server.get("deterministic")))
    if key not in SETTINGS:
        try:
            SETTINGS[key] = resolved_backend(*key)
        except ValueError as error:
            SETTINGS[key] = Refused(0, str(error))
    if isinstance(SETTINGS[key], Refused):
        raise SETTINGS[key]
    wanted = (SETTINGS[key], key[2])
    if not INSTALLED or INSTALLED[-1][0] != wanted:
        if INSTALLED:
            INSTALLED.pop()[1].restore()
        override = get_context().override_server_args(sampling_backend=wanted[0], enable_deterministic_inference=wanted[1])
        override.install()
        INSTALLED.append((wanted, override, sampler.Sampler()))
    return get_exec().kernel.sampling_backend


def request(name, params):
    one = Req(name, "", array("q", [1]), params, vocab_size=WIDTH)
    one.tokenizer = SimpleNamespace(additional_stop_token_ids=None, eos_token_id=0)  # min_new_tokens bans these
    return one


def does_not_fit(params):
    """Which value the batch's tensors cannot hold, in the goldens' words."""
    for one in params:
        try:
            torch.tensor([one.top_k], dtype=torch.int32)
        except (RuntimeError, OverflowError, ValueError, TypeError) as error:
            return Refused(0, f"top_k {one.top_k} does not fit the batch's int32 tensor", str(error))
    for one in params:
        try:
            torch.tensor([42 if one.sampling_seed is None else one.sampling_seed], dtype=torch.int64)
        except (RuntimeError, OverflowError, ValueError, TypeError) as error:
            return Refused(0, "a seed does not fit the batch's int64 tensor", str(error))
    return None


def info_of(batch):
    """The engine's SamplingBatchInfo of a batch's requests."""
    try:
        return SamplingBatchInfo.from_schedule_batch(batch, WIDTH)
    except (RuntimeError, OverflowError, ValueError, TypeError) as error:
        refused = does_not_fit([one.sampling_params for one in batch.reqs])
        raise refused or error from None


def batch_of(requests):
    batch = ScheduleBatch(reqs=list(requests), device="cpu", model_config=SimpleNamespace(is_encoder_decoder=False, vocab_size=WIDTH))
    batch.sampling_info = info_of(batch)
    return batch


def noise_of(tokens, drawn):
    """The noise of a seeded draw goes by token where the index drawn is the token, by rank where it is the place in the sorted row."""
    if tokens == drawn:
        return "token"
    if tokens == [WIDTH - 1 - index for index in drawn]:
        return "rank"
    raise RuntimeError(f"drawn {drawn}, tokens {tokens}: neither by token nor by rank")


def told(backend, info, tokens):
    """What a step's calls say of its path."""
    seen = {}
    for name, detail in SEEN:
        seen.setdefault(name, detail)
    seeded = "seeded" in seen
    if "filter" in seen:
        path = "filtered"
    elif seeded:
        path = "deterministic"
    else:
        path = "gumbel" if "exponential" in seen else "multinomial" if "multinomial" in seen else "greedy"
        assert path != "greedy" or "argmax" in seen
    out = {"path": path, "seeded": seeded, "backend": backend}
    if seeded:
        out["noise"] = noise_of(tokens, seen["seeded"])
    bound, seed = seen["filter"] if path == "filtered" and isinstance(seen["filter"], tuple) else (None, None)
    if bound is not None and seed is None:
        assert bound >= WIDTH or seen.get("topk") == bound
        out["top_k_bound"] = int(bound)
    return out


def draft(info, backend):
    """A draft token, from the sampler of drafts."""
    rows = torch.softmax(torch.arange(WIDTH, dtype=torch.float32).repeat(len(info), 1) / WIDTH, -1)
    takes_seed = "sampling_seed" in inspect.signature(spec_utils.fast_sample).parameters
    hashed = []
    murmur_hash.murmur_hash32 = lambda *args: hashed.append(args[2].tolist()) or hash32(*args)
    if takes_seed:
        spec_utils.fast_sample(rows, sampling_seed=info.sampling_seed, positions=torch.arange(len(info)))
    else:
        spec_utils.fast_sample(rows)
    murmur_hash.murmur_hash32 = hash32
    names = {name for name, _ in SEEN}
    if hashed:  # columns are the row's own ids, which nothing has sorted
        assert hashed[0] == list(range(WIDTH))
        return {"path": "deterministic", "seeded": True, "backend": backend, "noise": "token"}
    return {"path": "gumbel" if "exponential" in names else "multinomial", "seeded": False, "backend": backend}


def step(server, info):
    """{"path", "seeded", "backend", ...} of a step of a batch with this SamplingBatchInfo, or Refused. A copy is stepped."""
    backend = install(server)
    info = info.copy_for_forward()
    for name in ("temperatures", "top_ps", "top_ks", "min_ps"):
        setattr(info, name, getattr(info, name).clone())
    SEEN.clear()
    if server.get("draft"):
        return draft(info, backend)
    logits = torch.arange(WIDTH, dtype=torch.float32).repeat(len(info), 1) / WIDTH
    try:
        tokens = INSTALLED[-1][2](LogitsProcessorOutput(next_token_logits=logits), info, False, [], [], torch.arange(len(info)))
    except (AssertionError, TypeError, ValueError, RuntimeError) as error:
        raise Refused(0, str(error)) from None
    return told(backend, info, tokens.tolist())
