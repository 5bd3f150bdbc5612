"""sglang_body.py: a request body through SGLang's own HTTP application, up to the parameters that its scheduler would get.

Real: the FastAPI application with its schemas and error handlers, the classes that serve chat, completions and responses, what they
make of model and server defaults, GenerateReqInput, and TokenizerManager's checks, merge and SamplingParams. In the place of a
running server stand a tokenizer, a model's configuration and a manager that stops where the scheduler would be asked.
"""
import asyncio
import json
import re
import tempfile
import traceback
from types import SimpleNamespace
from unittest.mock import MagicMock

from fastapi.exceptions import RequestValidationError
from sglang.srt.configs.model_config import ModelConfig, get_generation_config
from sglang.srt.entrypoints import http_server
from sglang.srt.entrypoints.openai import serving_chat, serving_completions, serving_responses
from sglang.srt.managers.tokenizer_manager import TokenizerManager
from sglang.srt.runtime_context import get_server_args
from sglang.srt.sampling.sampling_params import SamplingParams
from transformers import LlamaConfig

import values

STAND_INS = [
    "tokenizer: one token a byte; the paths of bodies do not depend on it",
    "chat template: a prompt of one token, and the request's own stops, as the engine's jinja branch has them",
    "hf_config and the sizes of the model: a llama of 2^30 positions; generation_config.json is a real file read by the engine's own function",
    "TokenizerManager: its real checks and merge, without the processes around it; it stops where the scheduler would be asked",
]
PARAMETERS = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty", "presence_penalty", "seed")
ENDPOINTS = {"chat": ("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]}),
             "completions": ("/v1/completions", {"model": "m", "prompt": "x"}),
             "responses": ("/v1/responses", {"model": "m", "input": "x"}), "generate": ("/generate", {"text": "x"})}
DEFAULTS = {key: getattr(SamplingParams(is_normalized=True), key) for key in PARAMETERS[:7] + ("sampling_seed",)}  # of the object, as declared


class Refused(Exception):
    """status of the HTTP answer, 0: the step fails; text in the goldens' words; said: the engine's, where they differ."""

    def __init__(self, status, text, said=None):
        super().__init__(text)
        self.status, self.text, self.said = status, text, said

    def answer(self):
        return {"error": self.text, "status": self.status} | ({"said": self.said} if self.said is not None else {})


# Called as they are in the engine's messages.
TAGGED = {kind: type(kind.__name__, (kind,), {}) for kind in (float, int, str)}


def tagged(values_, layer):
    """The same values, each of which knows the dictionary that it came from."""
    out = {}
    for key, value in values_.items():
        kind = TAGGED.get(type(value))
        out[key] = value if kind is None else kind(value)
        if kind is not None:
            out[key].layer = layer
    return out


def plain(value):
    for kind in (float, int, str):
        if isinstance(value, kind) and hasattr(value, "layer"):
            return kind(value)
    return value


class Tokenizer:
    chat_template, bos_token_id, eos_token_id, all_special_tokens = "x", None, None, ()

    def encode(self, text, **_):
        return list(text.encode())


class Stopped(ValueError):
    """The parameters are there."""


class Manager(TokenizerManager):
    def __init__(self, model_config, preferred):
        self.tokenizer, self.model_config, self.preferred_sampling_params = Tokenizer(), model_config, preferred
        self.server_args = get_server_args()
        self.context_len, self.num_reserved_tokens, self.validate_total_tokens, self.allow_auto_truncate = 2**30, 0, True, False
        self.served_model_name = self.model_path = "m"
        self.request_logger = SimpleNamespace(log_requests=False, log_requests_level=0)
        self.is_generation, self.mm_processor, self.auto_create_handle_loop = True, None, lambda: None
        self.sampling_params_class, self.rid_to_state = self.construct, MagicMock()  # what is noted of a request's times
        self.clear()

    def clear(self):
        self.kwargs = self.params = self.failed = self.sent = None
        self.done = False

    def config_value(self, name):
        return None

    def construct(self, **kwargs):
        self.kwargs = kwargs
        self.params = SamplingParams(**kwargs)
        return self.params

    async def generate_request(self, obj, request=None):
        try:
            obj.normalize_batch_and_arguments()
            one = obj if obj.is_single else obj[0]
            self.sent = one.sampling_params
            self._validate_one_request(one, [1])
            self._create_tokenized_object(one, "x", [1])
            self.done = True
        except Exception as error:
            self.failed = error
            raise
        raise Stopped()
        yield

    def create_abort_task(self, obj):
        return None


class Model(ModelConfig):
    def __init__(self, server, folder):
        self.sampling_defaults, self.is_multimodal, self.context_len = server.get("sampling_defaults", "model"), False, 2**30
        self.vocab_size = server.get("vocab", 2**30)
        self.hf_config = LlamaConfig(architectures=["LlamaForCausalLM"])
        self.hf_generation_config = get_generation_config(folder, trust_remote_code=False)

    def __getattr__(self, name):  # a plain model has none of it
        return None


class Templates:
    """No template has a name, a parser or a format of its own."""

    def __getattr__(self, name):
        return None


def process_messages(self, request, is_multimodal, **_):
    return serving_chat.MessageProcessingResult(prompt="x", prompt_ids=[1], image_data=None, audio_data=None, video_data=None, modalities=[],
                                                stop=request.stop)


class Application:
    """The engine's application as a server with these options has it."""

    def __init__(self, server):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
                json.dump({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, file)
            if "generation_config" in server:
                with open(f"{folder}/generation_config.json", "w", encoding="utf-8") as file:
                    json.dump(values.read_all(server["generation_config"]), file)
            model = Model(server, folder)
        self.preferred = values.read_all(server["preferred"]) if "preferred" in server else None
        self.manager = Manager(model, tagged(self.preferred, "preferred") if self.preferred else self.preferred)
        templates = Templates()
        chat = type("Chat", (serving_chat.OpenAIServingChat,), {"_process_messages": process_messages})(self.manager, templates)
        responses = type("Responses", (serving_responses.OpenAIServingResponses,), {"_process_messages": process_messages})(self.manager, templates)
        for serving in (chat, responses):
            serving.default_sampling_params = tagged(serving.default_sampling_params, "model")
        self.serving = {"openai_serving_chat": chat, "openai_serving_responses": responses,
                        "openai_serving_completion": serving_completions.OpenAIServingCompletion(self.manager, templates)}

    def install(self):
        for name, serving in self.serving.items():
            setattr(http_server.app.state, name, serving)
        http_server._global_state = SimpleNamespace(tokenizer_manager=self.manager)
        self.manager.clear()


REFUSALS = []  # of the schemas, since the last request


def watch_schemas():
    handler = http_server.app.exception_handlers[RequestValidationError]

    async def watched(request, error):
        REFUSALS.append(error)
        return await handler(request, error)

    http_server.app.add_exception_handler(RequestValidationError, watched)


watch_schemas()
LOOP = asyncio.new_event_loop()


async def post(path, body):
    """(HTTP status, body) of the application's answer."""
    sent, text = [], json.dumps(body).encode()

    async def receive():
        return {"type": "http.request", "body": text, "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http", "path": path, "raw_path": path.encode(),
             "query_string": b"", "headers": [(b"content-type", b"application/json"), (b"host", b"localhost")], "client": ("127.0.0.1", 1),
             "server": ("127.0.0.1", 80), "root_path": "", "app": http_server.app, "state": {}}
    try:
        await http_server.app(scope, receive, send)
    except Exception:  # after the application has answered 500
        pass
    return int(sent[0]["status"]), b"".join(message.get("body", b"") for message in sent[1:])


def message_of(answer):
    """The engine's sentence in an answer."""
    try:
        told = json.loads(answer)
    except ValueError:
        return answer.decode()
    told = told.get("error", told) if isinstance(told, dict) else told
    return told.get("message", str(told)) if isinstance(told, dict) else str(told)


KINDS = {"float": "a number", "finite": "a number", "int": "an integer"}


def member_of(error):
    """The parameter that a comparison of the engine's was about when it failed: named in the line that failed."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.endswith("sampling_params.py"):
            found = re.search(r"self\.(\w+)", frame.line)
            return found and found.group(1)
        if frame.filename.endswith("tokenizer_manager.py") and "(max_new_tokens +" in frame.line:
            return "max_new_tokens"
    return None


def refusal(status, answer, manager, body):
    """The goldens' words for what the engine refused. Its own sentences stay; a schema's and an interpreter's are reworded by member
    and type, which is all that the goldens say of them."""
    said = message_of(answer)
    if REFUSALS:
        named = REFUSALS[0].errors()  # all that the schema refuses; the goldens name one, parameters last and in their order
        detail = min(named, key=lambda one: PARAMETERS.index(one["loc"][-1]) if one["loc"][-1] in PARAMETERS else -1)
        key, kind = detail["loc"][-1] if len(detail["loc"]) > 1 else None, detail["type"].split("_")[0]
        if kind in KINDS:
            return Refused(status, f"{key} must be {KINDS[kind]}, is {values.WORDS[type(detail['input'])]}", detail["msg"])
        return Refused(status, detail["msg"].replace("Value error, ", "", 1))
    failed = manager.failed
    if isinstance(failed, TypeError):
        key = member_of(failed)
        if key is not None:
            named = {"sampling_seed": "seed"}.get(key, key)
            value = plain((manager.kwargs or manager.sent)[key])
            return Refused(status, f"{named} must be a number, is {values.WORDS[type(value)]}", str(failed))
        return Refused(status, str(failed))
    if failed is None and (status == 500 or "unexpected keyword argument" in said):
        raise RuntimeError(f"{body}: {said}")
    text = said if failed is None else str(failed)
    short = text.split(", expected one of ")[0]  # of a schema that lists all it knows
    return Refused(status, short, text if text != short else None)


def member_that_feeds(endpoint, parameter):
    if parameter == "seed":
        return {"generate": "sampling_seed", "responses": None}.get(endpoint, "seed")
    return parameter


def layer_of(endpoint, parameter, body, manager):
    """(value, layer) of one parameter in what SamplingParams was constructed from."""
    key = "sampling_seed" if parameter == "seed" else parameter
    if key not in manager.kwargs:
        return DEFAULTS[key], "default"
    value, member = manager.kwargs[key], member_that_feeds(endpoint, parameter)
    if hasattr(value, "layer"):
        return plain(value), value.layer
    if key not in manager.sent:  # a null: no type of null can be made that knows where it is from
        return value, "preferred"
    return value, "request" if member in body and (endpoint == "generate" or body[member] is not None) else "default"


APPLICATIONS = {}


def send(endpoint, body, server):
    """(effective, SamplingParams): {parameter: (value, layer)} as merged, and the engine's object of them. Refused has .effective."""
    key = json.dumps({name: server[name] for name in sorted(server) if name in ("sampling_defaults", "generation_config", "preferred", "vocab")})
    if key not in APPLICATIONS:
        APPLICATIONS[key] = Application(json.loads(key))
    application = APPLICATIONS[key]
    application.install()
    REFUSALS.clear()
    path, rest = ENDPOINTS[endpoint]
    manager = application.manager
    status, answer = LOOP.run_until_complete(post(path, rest | ({"sampling_params": body} if endpoint == "generate" else body)))
    effective = None
    if manager.kwargs is not None:
        effective = {parameter: layer_of(endpoint, parameter, body, manager) for parameter in PARAMETERS}
    if manager.done:
        return effective, manager.params
    if isinstance(manager.failed, (AttributeError, NameError)):  # of a stand-in that lacks something: no answer of the engine's
        raise RuntimeError(f"{endpoint} {body}") from manager.failed
    refused = refusal(status, answer, manager, body)
    refused.effective = effective
    raise refused
