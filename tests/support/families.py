"""Stand-ins for the tokenizers of model families: the same control tokens, templates of our own.

Each template writes the same text as the family's, without its tools. The vocabulary is tiny.
"""

from dataclasses import dataclass

import tiny
from tokenizers import AddedToken

DATE = "2026-01-02"  # of the table in docs/guides/chat_templates.md
IM = ("<|im_start|>", "<|im_end|>")
PLAIN = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<table>", "</table>", "\n", "\n\n")
"""Added tokens that are ordinary text."""


def turns(system, user, assistant, prompt, start=""):
    """Returns a template of fixed texts around messages; ``§`` is a message."""
    system, user, assistant = (
        text.replace("§", "{{ m.content }}") for text in (system, user, assistant)
    )
    return (
        f"{start}{{% for m in messages %}}{{% if m.role == 'system' %}}{system}"
        f"{{% elif m.role == 'user' %}}{user}{{% else %}}{assistant}{{% endif %}}{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{prompt}{{% endif %}}"
    )


def header(role):
    return f"<|start_header_id|>{role}<|end_header_id|>{{{{ '\\n\\n' }}}}"


def llama(start):
    return turns(
        f"{header('system')}{start}§<|eot_id|>",
        f"{header('user')}§<|eot_id|>",
        f"{header('assistant')}§<|eot_id|>",
        header("assistant"),
        "{{ bos_token }}",
    )


def chatml(after="\n", *, system="§", assistant="§", prompt="", first="<|im_start|>{0}\n"):
    opening = {role: first.format(role) for role in ("system", "user", "assistant")}
    return turns(
        f"{opening['system']}{system}<|im_end|>{after}",
        f"{opening['user']}§<|im_end|>{after}",
        f"{opening['assistant']}{assistant}<|im_end|>{after}",
        opening["assistant"] + prompt,
    )


def gemma(rules):
    """Returns a template whose system message is the start of the first user message."""
    return (
        "{{ bos_token }}{% if messages[0].role == 'system' %}"
        + rules
        + "{% set talk = messages[1:]"
        " %}{% else %}{% set talk = messages %}{% endif %}{% for m in talk %}<start_of_turn>{{"
        " 'model' if m.role == 'assistant' else 'user' }}\n{% if loop.first and talk != messages"
        " %}{{ messages[0].content + '\n\n' }}{% endif %}{{ m.content | trim }}<end_of_turn>\n"
        "{{ '' }}{% endfor %}"
        "{% if add_generation_prompt %}<start_of_turn>model\n{{ '' }}{% endif %}"
    )


MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST]GAP{% if loop.last and"
    " messages[0].role == 'system' %}{{ messages[0].content + '\n\n' }}{% endif %}{{ m.content"
    " }}[/INST]{% elif m.role == 'assistant' %}GAP{{ m.content | trim }}{{ eos_token }}{% endif %}"
    "{% endfor %}"
)
"""The rules move to the last message of the user."""
THOUGHTLESS = (  # of earlier turns
    "{{ m.content.split('</think>')[-1].strip() if not loop.last else m.content }}"
)
SMOL = (
    "## Metadata\n\nKnowledge Cutoff Date: June 2025\nToday Date: {{ strftime_now('%d %B %Y') }}\n"
    "Reasoning Mode: /think\n\n## Custom Instructions\n\n§\n\n"
)
DEEPSEEK = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>")
ROLES = ("<｜User｜>", "<｜Assistant｜>")


@dataclass(frozen=True)
class Family:
    """What a stand-in is made of."""

    template: str
    special: tuple[str, ...]
    eos: str
    bos: str | None = None
    plain: tuple[str, ...] = ()
    """Added tokens without the mark of special tokens, besides ``PLAIN``."""
    folder: str = ""
    """The folder with the real tokenizer, for tests that have it."""

    def tokenizer(self):
        """Returns the tokenizer."""
        made = tiny.tokenizer()
        made.add_tokens([AddedToken(t, normalized=False) for t in (*PLAIN, *self.plain)])
        made.add_tokens(
            [AddedToken(text, special=True, normalized=False) for text in self.special],
            special_tokens=True,
        )
        made.eos_token = self.eos
        if self.bos:
            made.bos_token = self.bos
        made.chat_template = self.template
        return made


HEADERS = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
GEMMA = ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>")
INST = ("<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]")
FAMILIES = {
    "Llama 3.1": Family(llama(""), HEADERS, HEADERS[3], HEADERS[0], folder="llama3_1"),
    "Llama 3.2": Family(
        llama(
            "Cutting Knowledge Date: December 2023\nToday Date: {{ strftime_now('%d %b %Y') }}"
            "{{ '\n\n' }}"
        ),
        HEADERS,
        HEADERS[3],
        HEADERS[0],
        folder="llama3_2",
    ),
    "Gemma 2": Family(gemma("{{ raise_exception('no rules') }}"), GEMMA, GEMMA[3], GEMMA[0]),
    "Gemma 3": Family(gemma(""), GEMMA, GEMMA[3], GEMMA[0], folder="gemma3"),
    "Mistral 7B 0.3": Family(MISTRAL.replace("GAP", " "), INST, INST[1], INST[0]),
    "Mistral Nemo": Family(
        MISTRAL.replace("GAP", ""), INST, INST[1], INST[0], folder="mistral_nemo"
    ),
    "Phi-3": Family(
        turns(
            "<|system|>\n§<|end|>\n",
            "<|user|>\n§<|end|>\n",
            "<|assistant|>\n§<|end|>\n",
            "<|assistant|>\n{{ '' }}",
        ),
        ("<|system|>", "<|endoftext|>"),
        "<|endoftext|>",
    ),
    "Phi-4": Family(chatml("", first="<|im_start|>{0}<|im_sep|>"), (*IM, "<|im_sep|>"), IM[1]),
    "SmolLM3": Family(chatml(system=SMOL), IM, IM[1]),
    "DeepSeek-Coder": Family(
        turns(
            "§", "### Instruction:\n§\n", "### Response:\n§\n<|EOT|>\n", "### Response:\n{{ '' }}"
        ),
        (),
        "<|EOT|>",
        plain=("<|EOT|>",),
    ),
    "DeepSeek V3": Family(
        turns("§", "<｜User｜>§", f"<｜Assistant｜>§{DEEPSEEK[1]}", "<｜Assistant｜>", DEEPSEEK[0]),
        DEEPSEEK,
        DEEPSEEK[1],
        DEEPSEEK[0],
        plain=ROLES,
        folder="deepseek_v3",
    ),
    "DeepSeek R1": Family(
        turns(
            "§",
            "<｜User｜>§",
            f"<｜Assistant｜>{THOUGHTLESS}{DEEPSEEK[1]}",
            "<｜Assistant｜>",
            DEEPSEEK[0],
        ),
        DEEPSEEK,
        DEEPSEEK[1],
        DEEPSEEK[0],
        plain=ROLES,
    ),
    "Qwen2.5": Family(chatml(), IM, IM[1], plain=("<|fim_prefix|>",), folder="qwen2_5"),
    "Qwen3": Family(chatml(assistant=THOUGHTLESS), IM, IM[1], folder="qwen3"),
}
REFUSED = ("DeepSeek R1", "Qwen3")
