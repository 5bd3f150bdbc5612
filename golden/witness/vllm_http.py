"""vllm_http.py: request bodies sent to vLLM 0.5.0's own web applications: the OpenAI server and the demonstration server with /generate.

Behind them is an engine without a model, which keeps the SamplingParams that it is given.
"""
import inspect
import json
import tempfile

import vllm_values
from vllm_wheel import CompletionOutput, Logprob, RequestOutput, SamplingParams

import vllm.entrypoints.api_server as demonstration  # noqa: E402
import vllm.entrypoints.openai.api_server as openai_server  # noqa: E402
import vllm.entrypoints.openai.protocol as protocol  # noqa: E402
from fastapi.exceptions import RequestValidationError  # noqa: E402
from fastapi.testclient import TestClient  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402

ROUTES = {"chat": "/v1/chat/completions", "completions": "/v1/completions", "responses": "/v1/responses", "generate": "/generate"}
REQUIRED = {"chat": {"model": "m", "messages": [{"role": "user", "content": "a"}]}, "completions": {"model": "m", "prompt": "a"},
            "responses": {"model": "m", "input": "a"}, "generate": {"prompt": "a"}}
SCHEMAS = {"chat": protocol.ChatCompletionRequest, "completions": protocol.CompletionRequest}
DEFAULTS = {key: one.default for key, one in inspect.signature(SamplingParams).parameters.items()}
ROOM = 2**40  # tokens of the model's context: no request's max_tokens is cut down to it


class Engine:
    """In the place of AsyncLLMEngine."""
    engine = None

    class Decoding:
        guided_decoding_backend = "none"

    async def get_decoding_config(self):
        return self.Decoding

    async def get_tokenizer(self):
        return None

    async def abort(self, request_id):
        pass

    async def generate(self, inputs, sampling_params, request_id, lora_request=None):
        self.made = sampling_params
        done = CompletionOutput(0, "a", (0,), 0.0, [{0: Logprob(0.0)}] if sampling_params.logprobs is not None else None, "length")
        yield RequestOutput(request_id, "a", [0], [{}], [done], True)


class Model:
    max_model_len, tokenizer_mode, tokenizer_revision, trust_remote_code = ROOM, "auto", None, False

    def __init__(self, folder):
        tokenizer = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="a").save_pretrained(folder)
        self.tokenizer = folder


class Servers:
    """answer(endpoint, body) and reached(endpoint, body)."""

    def __init__(self):
        self.engine = Engine()
        with tempfile.TemporaryDirectory() as folder:
            model = Model(folder)
            openai_server.openai_serving_chat = openai_server.OpenAIServingChat(self.engine, model, ["m"], "assistant", None, "{{ messages[0].content }}")
            openai_server.openai_serving_completion = openai_server.OpenAIServingCompletion(self.engine, model, ["m"], None)
        demonstration.engine = self.engine
        handler = openai_server.app.exception_handlers[RequestValidationError]

        async def noted(request, error):
            self.errors = error.errors()
            return await handler(request, error)

        openai_server.app.exception_handlers[RequestValidationError] = noted
        openai, other = TestClient(openai_server.app), TestClient(demonstration.app)
        self.clients = {endpoint: other if endpoint == "generate" else openai for endpoint in ROUTES}

    def answer(self, endpoint, request):
        """(SamplingParams that the engine was given, None) or (None, refusal)."""
        body, self.engine.made, self.errors = REQUIRED[endpoint] | request, None, None
        try:
            response = self.clients[endpoint].post(ROUTES[endpoint], content=json.dumps(body), headers={"Content-Type": "application/json"})
        except Exception as error:  # what the server's outermost layer answers with 500
            return None, vllm_values.of_constructor(error, endpoint == "generate" or not isinstance(error, ValueError))
        if response.status_code == 404:
            return None, vllm_values.refusal(f"vllm-0.5.0 has no {ROUTES[endpoint]}", 404, response.json()["detail"])
        if self.errors:
            assert response.status_code == 400
            return None, vllm_values.of_schema(self.errors, body)
        if response.status_code != 200:
            return None, vllm_values.refusal(response.json()["message"], response.status_code)
        return self.engine.made, None


def reached(endpoint, request):
    """{parameter: (value, layer)} as they reach the constructor, or None if the schema refuses. A chat's max_tokens before the server
    fills it up with the room that the prompt leaves."""
    if endpoint == "responses":
        return None
    if endpoint == "generate":
        return {key: (request[key], "request") if key in request else (DEFAULTS[key], "default") for key in vllm_values.PARAMETERS}
    try:
        body = SCHEMAS[endpoint].model_validate(REQUIRED[endpoint] | request)
    except (ValueError, TypeError):
        return None
    passed = {}

    def constructor(**arguments):
        passed.update(arguments)

    protocol.SamplingParams = constructor
    try:
        body.to_sampling_params()
    finally:
        protocol.SamplingParams = SamplingParams
    return {key: (passed.get(key, DEFAULTS[key]), "request" if key in body.model_fields_set else "default") for key in vllm_values.PARAMETERS}
