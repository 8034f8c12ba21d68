"""Fills in what transformers makes of the chat templates in a file:

    python harness/tokenizer/testdata/chat.py harness/tokenizer/testdata/chat.json ../shared/data/tokenizer

The file is a list of {"name", "template" or "config", "special", "cases"}; config is a tokenizer_config.json in the second
folder, whose template is meant. Each case is {"messages", "add_generation_prompt"} and gets "want", or null where the
template raises an exception. Needs transformers and jinja2.
"""
import json
import os
import sys

from transformers.utils.chat_template_utils import _compile_jinja_template

path, folder = sys.argv[1], sys.argv[2]
with open(path, encoding="utf-8") as f:
    formats = json.load(f)
for fmt in formats:
    template = fmt.get("template")
    if template is None:
        with open(os.path.join(folder, fmt["config"]), encoding="utf-8") as f:
            template = json.load(f)["chat_template"]
    compiled = _compile_jinja_template(template)
    for case in fmt["cases"]:
        try:
            case["want"] = compiled.render(
                messages=case["messages"], tools=None, documents=None,
                add_generation_prompt=case["add_generation_prompt"], **fmt.get("special", {}))
        except Exception:
            case["want"] = None
with open(path, "w", encoding="utf-8") as f:
    json.dump(formats, f, ensure_ascii=False, indent=1)
    f.write("\n")
