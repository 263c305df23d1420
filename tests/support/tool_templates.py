"""Chat templates with functions: each writes calls in the form of one model family.

The templates are our own. Calls, results and stop tokens have the families' text.
"""

import tiny
from tokenizers import AddedToken

TOOLS = "{% for t in tools or [] %}{{ t | tojson }}\n{% endfor %}"
IM = "<|im_start|>{{ m.role }}\n"


def chatml(call):
    """Like Qwen's: a thought stays in messages after the latest question only."""
    return (
        "{% set ns = namespace(ask=0) %}{% for m in messages %}{% if m.role == 'user' %}"
        "{% set ns.ask = loop.index0 %}{% endif %}{% endfor %}"
        "{% for m in messages %}{% if m.role == 'system' %}"
        f"{IM}{{{{ m.content }}}}\n{TOOLS}<|im_end|>\n"
        f"{{% elif m.role == 'assistant' %}}{IM}"
        "{% if m.reasoning_content and loop.index0 > ns.ask %}<think>\n{{ m.reasoning_content }}\n"
        "</think>\n\n{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}"
        f"{{% if m.content or not loop.first %}}\n{{% endif %}}{call}{{% endfor %}}<|im_end|>\n"
        "{% elif m.role == 'tool' %}<|im_start|>user\n<tool_response>\n{{ m.content }}\n"
        f"</tool_response><|im_end|>\n{{% else %}}{IM}{{{{ m.content }}}}<|im_end|>\n{{% endif %}}"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )


HERMES = chatml(
    '<tool_call>\n{"name": "{{ c.function.name }}", "arguments": '
    "{{ c.function.arguments | tojson }}}\n</tool_call>"
)
CODER = chatml(
    "<tool_call>\n<function={{ c.function.name }}>\n{% for k, v in c.function.arguments.items() %}"
    "<parameter={{ k }}>\n{{ v }}\n</parameter>\n{% endfor %}</function>\n</tool_call>"
)
UNKNOWN = chatml("<call>{{ c.function.name }}({{ c.function.arguments.values() | join }})</call>")
GLM = (
    "{% for m in messages %}{% if m.role == 'system' %}<|system|>\n{{ m.content }}\n"
    f"{TOOLS}"
    "{% elif m.role == 'user' %}<|user|>\n{{ m.content }}{% elif m.role == 'assistant' %}"
    "<|assistant|>\n{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>"
    "{{ c.function.name }}\n{% for k, v in c.function.arguments.items() %}<arg_key>{{ k }}"
    "</arg_key>\n<arg_value>{{ v if v is string else v | tojson }}</arg_value>\n{% endfor %}"
    "</tool_call>{% endfor %}{% else %}<|observation|>\n<tool_response>\n{{ m.content }}\n"
    "</tool_response>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
LLAMA = (
    "{% macro head(role) %}<|start_header_id|>{{ role }}<|end_header_id|>\n\n{% endmacro %}"
    "{% for m in messages %}{% if m.role == 'system' %}{{ head('system') }}{{ m.content }}\n"
    f"{TOOLS}<|eot_id|>"
    "{% elif m.tool_calls %}{% if m.tool_calls | length > 1 %}{{ raise_exception('one call') }}"
    "{% endif %}{% set f = m.tool_calls[0].function %}{{ head('assistant') }}"
    '{"name": "{{ f.name }}", "parameters": {{ f.arguments | tojson }}}<|eom_id|>'
    "{% elif m.role == 'tool' %}{{ head('ipython') }}{{ m.content | tojson }}<|eot_id|>"
    "{% else %}{{ head(m.role) }}{{ m.content }}<|eot_id|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ head('assistant') }}{% endif %}"
)


def mistral(call):
    return (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}[SYSTEM_PROMPT]"
        "{{ m.content }}[/SYSTEM_PROMPT][AVAILABLE_TOOLS]"
        f"{TOOLS}[/AVAILABLE_TOOLS]"
        "{% elif m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.tool_calls %}"
        f"[ANSWER]{call}</s>"
        "{% elif m.role == 'tool' %}{% if m.tool_call_id | length != 9 %}"
        "{{ raise_exception('ids have nine characters') }}{% endif %}"
        "[TOOL_RESULTS]{{ m.tool_call_id }}[TOOL_CONTENT]{{ m.content }}[/TOOL_RESULTS]"
        "{% else %}[ANSWER]{{ m.content }}</s>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}[ANSWER]{% endif %}"
    )


MISTRAL = mistral(
    '[TOOL_CALLS][{% for c in m.tool_calls %}{"name": "{{ c.function.name }}", "arguments": '
    '{{ c.function.arguments | tojson }}, "id": "{{ c.id }}"}{{ ", " if not loop.last }}'
    "{% endfor %}]"
)
MISTRAL_ARGS = mistral(
    "{% for c in m.tool_calls %}[TOOL_CALLS]{{ c.function.name }}[ARGS]"
    "{{ c.function.arguments | tojson }}{% endfor %}"
)
HARMONY = (
    "{% for m in messages %}{% if m.role == 'system' %}<|start|>developer<|message|>"
    "{{ m.content }}\n"
    f"{TOOLS}<|end|>"
    "{% elif m.tool_calls %}{% set f = m.tool_calls[0].function %}{% if m.thinking %}"
    "<|start|>assistant<|channel|>analysis<|message|>{{ m.thinking }}<|end|>{% endif %}"
    "<|start|>assistant to=functions.{{ f.name }}<|channel|>commentary json<|message|>"
    "{{ f.arguments | tojson }}<|call|>"
    "{% elif m.role == 'tool' %}<|start|>functions to=assistant<|channel|>commentary<|message|>"
    "{{ m.content }}<|end|>{% elif m.role == 'user' %}<|start|>user<|message|>"
    "{{ m.content }}<|end|>"
    "{% elif loop.last %}{% if m.thinking %}<|start|>assistant<|channel|>analysis<|message|>"
    "{{ m.thinking }}<|end|>{% endif %}"
    "<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|return|>"
    "{% else %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
PLAIN = ("<tool_call>", "</tool_call>", "<think>", "</think>", "<arg_key>", "</arg_key>")
TEMPLATES = {
    "Hermes": (HERMES, "<|im_start|> <|im_end|>", "<|im_end|>"),
    "Qwen3-Coder": (CODER, "<|im_start|> <|im_end|>", "<|im_end|>"),
    "GLM": (GLM, "<|system|> <|user|> <|assistant|> <|observation|>", "<|user|>"),
    "Llama 3": (
        LLAMA,
        "<|start_header_id|> <|end_header_id|> <|eot_id|> <|eom_id|> <|python_tag|>",
        "<|eot_id|>",
    ),
    "Mistral": (MISTRAL, "<s> </s> [INST] [/INST] [TOOL_CALLS] [TOOL_RESULTS] [ANSWER]", "</s>"),
    "Mistral, arguments": (
        MISTRAL_ARGS,
        "<s> </s> [INST] [/INST] [TOOL_CALLS] [ARGS] [TOOL_RESULTS] [ANSWER]",
        "</s>",
    ),
    "gpt-oss": (
        HARMONY,
        "<|start|> <|message|> <|end|> <|channel|> <|constrain|> <|call|> <|return|>",
        "<|return|>",
    ),
}
"""By form: the template, its special tokens, and the end of text."""


def tokenizer(form):
    """Returns a tiny tokenizer with the template of a form."""
    template, special, end = TEMPLATES[form]
    made = tiny.tokenizer()
    made.add_tokens([AddedToken(text, normalized=False) for text in PLAIN])
    made.add_tokens(
        [AddedToken(text, special=True, normalized=False) for text in special.split()],
        special_tokens=True,
    )
    made.eos_token = end
    if "<s>" in special:
        made.bos_token = "<s>"
    made.chat_template = template
    return made
