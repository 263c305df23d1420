"""The generator ``vllm``: samples with vLLM's scheduler, kernels and cache of prefixes."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from transformers import AutoConfig

from agentgym_train.config.constraints import Name, Positive
from agentgym_train.errors import ConfigError
from agentgym_train.generators import probe
from agentgym_train.generators.requests import BackgroundEngineGenerator, EngineGenerator
from agentgym_train.generators.vllm_servers import ServerEngine
from agentgym_train.protocols import GeneratorContext


class VLLM(EngineGenerator):
    """Samples with vLLM, in this process or over servers."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        """Where vLLM runs, and its memory."""

        kv_cache_gib: Positive = 4.0
        """Memory of each process for keys and values, in GiB. Rows that do not fit wait."""
        servers: tuple[Name, ...] = ()
        """Addresses of vLLM servers, such as "http://host:8000"; empty: vLLM runs in the trainer's
        processes. All servers sample for all processes."""
        shared_folder: str = ""
        """A folder that the main process and all servers can read under the same name. It passes
        the weights of the policy to the servers."""

        def __post_init__(self) -> None:
            if bool(self.servers) != bool(self.shared_folder):
                raise ConfigError(
                    "generator.servers and generator.shared_folder belong together: set both or"
                    " none"
                )
            if twice := next((url for url in self.servers if self.servers.count(url) > 1), None):
                raise ConfigError(f"generator.servers names {twice!r} more than once")

    @classmethod
    def check(cls, options: Options) -> None:
        """Rejects a machine without vLLM.

        Raises:
            ConfigError: vLLM is to run here and is not installed.
        """
        if not options.servers and find_spec("vllm") is None:
            raise ConfigError(
                "generator.name='vllm' needs vLLM, which is not installed; install"
                " agentgym-train[vllm], or name generator.servers"
            )

    @classmethod
    def build(cls, options: Options, context: GeneratorContext) -> EngineGenerator:
        """Starts an engine in this process, or connects to the servers.

        Raises:
            ConfigError: vLLM cannot be imported, a server cannot be used, or ``model.max_context``
                exceeds the model's.
            ModelError: vLLM cannot run the model.
        """
        length = context_length(context)
        if options.servers:
            urls = [url.rstrip("/") for url in options.servers]
            folder = Path(options.shared_folder)
            engine = ServerEngine(context, urls, folder=folder, length=length)
            return BackgroundEngineGenerator(engine)
        try:
            from agentgym_train.generators.vllm_engine import VLLMEngine
        except ImportError as error:
            raise ConfigError(
                f"generator.name='vllm' needs vLLM, which cannot be imported ({error}); install"
                " agentgym-train[vllm]"
            ) from error
        return cls(VLLMEngine(context, length, kv_cache_gib=options.kv_cache_gib))


def context_length(context: GeneratorContext) -> int:
    """Returns the maximum number of tokens of a request.

    It leaves room for the start-up probe, whose rows can be longer than those of the run.

    Raises:
        ConfigError: the model does not have that many positions.
    """
    config = AutoConfig.from_pretrained(context.model_folder)
    limit = getattr(config.get_text_config(), "max_position_embeddings", None)
    if limit is not None and context.max_context > limit:
        raise ConfigError(
            f"model.max_context={context.max_context} exceeds the {limit} positions of"
            f" {context.model_folder!r}; use at most {limit}, or another generator"
        )
    return max(context.max_context, probe.length(config))
