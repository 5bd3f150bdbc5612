"""boundary_notes.py: the defects that the cases of golden/boundary/ catch: what is wrong, who is hurt, and where it was reported."""

GITHUB = "https://github.com/"


def note(bug, effect, *links):
    return {"bug": bug, "effect": effect, "links": [GITHUB + link for link in links]}


NOTES = {
    "short-nucleus": note(
        "The nucleus ends before its mass reaches p: the id that crosses p is dropped.",
        "Every completion is duller than asked for: the least likely of the tokens that top_p should leave never comes.",
        "ggml-org/llama.cpp/pull/1953", "fishaudio/fish-speech/pull/1171", "huggingface/transformers/pull/27165"),
    "equal-mass": note(
        "An id is kept, or dropped, because of > for >= where the mass above it is exactly p.",
        "Two engines, or two paths of one, answer the same request from different supports.",
        "huggingface/transformers/issues/18976"),
    "unsorted": note(
        "Mass is summed in the order of the vocabulary, or the rank within the sorted row is returned for the id.",
        "On real vocabularies the tokens have nothing to do with the model's; on sorted test rows nothing shows.",
        "dmlc/gluon-nlp/issues/1481", "lucidrains/routing-transformer/issues/1"),
    "empty-nucleus": note(
        "A tiny top_p, or 1 - p rounded to 1, leaves no id at all.",
        "The answer is noise, token 0, or a crash, where the likeliest token was asked for.",
        "ml-explore/mlx-lm/pull/1912", "google-deepmind/simply/pull/42", "huggingface/transformers/pull/19839"),
    "approximate": note(
        "The threshold is estimated, or taken from another iteration of a search than its counts.",
        "Tokens that should be gone come, and likelier ones are missing.",
        "FlashML-org/FreeToken/pull/345", "vllm-project/vllm-ascend/pull/13847"),
    "retries": note(
        "A rejection loop gives up after a few tries and returns the likeliest id, or the last one it saw.",
        "On flat rows one token comes nearly always.",
        "lightseekorg/tokenspeed/pull/280", "microsoft/onnxruntime-genai/pull/1363"),
    "ties": note(
        "Ids of one weight are kept together, or cut by order, and not as the engine says; some paths of one engine differ.",
        "The support depends on the batch size or the backend: bf16 rows tie at a large share of positions.",
        "flashinfer-ai/flashinfer/pull/3774", "vllm-project/vllm/pull/50979"),
    "tied-maximum": note(
        "top_k 1 keeps every tied maximum and draws among them, or the last of them wins.",
        "Requests meant to be greedy flip between two tokens.",
        "vllm-project/vllm/pull/41598", "mstar-project/mstar/issues/254", "ohdearquant/lattice/issues/280",
        "NVIDIA/TensorRT-Model-Connect/pull/1157"),
    "order": note(
        "top_k, top_p and min_p are chained in another order, or one sees the mass that another has left.",
        "The same request gets other tokens on another path; an upgrade changes every filtered answer.",
        "sgl-project/sglang/pull/36173", "sgl-project/sglang-jax/pull/1563", "microsoft/onnxruntime-genai/pull/1371",
        "sgl-project/sglang/pull/15648"),
    "temperature-order": note(
        "The temperature is applied after the filters where the engine says before, or the other way round, or swapped with top_p.",
        "At T other than 1 the nucleus is too wide or too narrow.",
        "vllm-project/tpu-inference/pull/1385", "mlc-ai/mlc-llm/pull/951", "vllm-project/vllm-metal/pull/728"),
    "unnormalised": note(
        "A filter takes for granted that the weights it sees sum to one.",
        "After top_k, or on raw weights, top_p keeps nothing or everything.",
        "ml-explore/mlx-lm/pull/388"),
    "top-k-sentinel": note(
        "A value that means \"off\" is taken for 1, or the other way round. top_k is -1 for off here; vLLM V1 takes 0 for off too, "
        "most engines refuse it.",
        "Sampling silently becomes greedy, or a limit is silently gone.",
        "vllm-project/tpu-inference/issues/1386", "abetlen/llama-cpp-python/issues/220"),
    "top-k-above-vocabulary": note(
        "top_k above the vocabulary is not clamped, or does not fit 32 bits.",
        "A crash, or a read beyond the row.",
        "OpenNMT/CTranslate2/pull/586"),
    "bad-value": note(
        "NaN, negative or other meaningless parameters pass a range check written as x < low or x > high.",
        "One request draws from garbage, or fails the step for its neighbours.",
        "NVIDIA/TensorRT-LLM/pull/17159", "google-deepmind/gemma/issues/562"),
    "bad-row": note(
        "A NaN, an infinity or a row without any live id decides a token.",
        "A run of token 0, an illegal access, or a token that is not of the row.",
        "flashinfer-ai/flashinfer/pull/2456"),
    "sign": note(
        "repetition_penalty divides negative logits too.",
        "Unlikely tokens that were said already become likelier by the penalty.",
        "NVIDIA-NeMo/Speech/issues/8194"),
    "window": note(
        "The penalised history is not the one of the request: its front for its end, the prompt counted or not, padding among it.",
        "Words of the prompt are suppressed, or repetitions are not.",
        "abetlen/llama-cpp-python/pull/1295", "ggml-org/llama.cpp/issues/8971", "NVIDIA/TensorRT-LLM/pull/5623",
        "huggingface/text-generation-inference/pull/1765"),
    "ignored": note(
        "A penalty is accepted and not applied.",
        "Users tune a parameter that does nothing.",
        "sgl-project/sglang/issues/28179", "sgl-project/sglang-jax/pull/976"),
    "twice": note(
        "A penalty is applied twice, or once per occurrence instead of once.",
        "Words that came a few times are as good as banned.",
        "sgl-project/sglang-omni/pull/2005", "ohdearquant/lattice/issues/312"),
    "rows-mixed": note(
        "Penalties of one request are taken from another's history in the same batch.",
        "What a user gets depends on the neighbours.",
        "vllm-project/vllm/pull/5639", "sgl-project/sglang/pull/1001"),
}
