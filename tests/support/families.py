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
LAST_USER = (
    "{% set seen = namespace(last=-1) %}{% for m in messages %}{% if m.role == 'user' %}"
    "{% set seen.last = loop.index0 %}{% endif %}{% endfor %}"
)
"""Finds the last message of the user: thoughts after it stay."""
SPLIT = (
    "{% if m.reasoning_content is string %}{% set thought, words = m.reasoning_content, m.content"
    " %}{% elif '</think>' in m.content %}{% set thought ="
    " m.content.split('</think>')[0].split('<think>')[-1] %}{% set words ="
    " m.content.split('</think>')[-1] %}{% else %}{% set thought, words = '', m.content %}"
    "{% endif %}"
)
"""Tells the thought from the words."""
QWEN = (
    f"{SPLIT}{{% if loop.index0 > seen.last and (loop.last or thought) %}}<think>\n{{{{"
    " thought.strip('\n') }}\n</think>\n\n{% endif %}{{ words.lstrip('\n') }}"
)
GLM = turns(
    "<|system|>\n§",
    "<|user|>\n§{% if enable_thinking is defined and not enable_thinking %}/nothink{% endif %}",
    f"<|assistant|>{SPLIT}{{{{ '\n' }}}}<think>{{% if loop.index0 > seen.last %}}{{{{"
    " thought.strip() }}{% endif %}</think>{% if words.strip() %}{{ '\n' + words.strip() }}"
    "{% endif %}",
    "<|assistant|>{% if enable_thinking is defined and not enable_thinking %}{{ '\n' }}<think>"
    "</think>{% endif %}",
    f"[gMASK]<sop>{LAST_USER}",
)
HARMONY = turns(
    "<|start|>developer<|message|># Instructions\n\n§\n\n<|end|>",
    "<|start|>user<|message|>§<|end|>",
    "{% if '<|channel|>' in m.content %}{{ raise_exception('a message has a channel') }}{% endif %}"
    "{% if loop.last and not add_generation_prompt %}{% if m.thinking %}<|start|>assistant"
    "<|channel|>analysis<|message|>{{ m.thinking }}<|end|>{% endif %}<|start|>assistant<|channel|>"
    "final<|message|>§<|return|>{% else %}<|start|>assistant<|channel|>final<|message|>§<|end|>"
    "{% endif %}",
    "<|start|>assistant",
    "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\n"
    "Knowledge cutoff: 2024-06\nCurrent date: {{ strftime_now('%Y-%m-%d') }}\n\nReasoning: "
    "{{ reasoning_effort | default('medium') }}\n\n# Valid channels: analysis, commentary, final."
    " Channel must be included for every message.<|end|>",
)
THOUGHTLESS = "{{ m.content.split('</think>')[-1] }}"  # of earlier turns
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
GLM_ROLES = ("<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>")
CHANNELS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>")
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
            "<｜Assistant｜><think>\n{{ '' }}",
            DEEPSEEK[0],
        ),
        DEEPSEEK,
        DEEPSEEK[1],
        DEEPSEEK[0],
        plain=ROLES,
    ),
    "GLM-4.5": Family(GLM, ("[gMASK]", "<sop>", *GLM_ROLES), "<|endoftext|>"),
    "gpt-oss": Family(HARMONY, CHANNELS, "<|return|>", folder="gptoss"),
    "Qwen2.5": Family(chatml(), IM, IM[1], plain=("<|fim_prefix|>",), folder="qwen2_5"),
    "Qwen3": Family(
        LAST_USER
        + chatml(
            assistant=QWEN,
            prompt="{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>"
            "\n\n{% endif %}",
        ),
        IM,
        IM[1],
        folder="qwen3",
    ),
}
THINKING = ("DeepSeek R1", "GLM-4.5", "gpt-oss", "Qwen3")
"""Families whose templates rewrite earlier messages: they leave out thoughts."""
