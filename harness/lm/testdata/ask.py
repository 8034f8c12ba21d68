"""Asks a folder with transformers what a router asks it: ask.py IN.json OUT.json

IN.json has folder, adapter (a folder of PEFT, or empty), system, texts and labels. OUT.json has the keys that the folder
lacks or has too many, the tokens of each conversation, and the scores of the labels as first tokens of the answers.
"""
import json
import sys
import warnings

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

asked = json.load(open(sys.argv[1]))
tokenizer = AutoTokenizer.from_pretrained(asked["folder"])
model, info = AutoModelForCausalLM.from_pretrained(asked["folder"], output_loading_info=True, dtype=torch.float32)
keys = sorted(info["missing_keys"]) + sorted(info["unexpected_keys"]) + [str(k) for k in info["mismatched_keys"]]
if asked["adapter"]:
    from peft import PeftModel

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PeftModel.from_pretrained(model, asked["adapter"])
    keys += [str(w.message) for w in said if "keys" in str(w.message)]
model.eval()
labels = [tokenizer.encode(label, add_special_tokens=False) for label in asked["labels"]]
assert all(len(tokens) == 1 for tokens in labels), labels
tokens, scores = [], []
for text in asked["texts"]:
    messages = [{"role": "system", "content": asked["system"]}, {"role": "user", "content": text}]
    tokens.append(tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=True)["input_ids"])
    with torch.no_grad():
        logits = model(torch.tensor([tokens[-1]])).logits[0, -1]
    scores.append([logits[t[0]].item() for t in labels])
json.dump({"keys": keys, "tokens": tokens, "scores": scores}, open(sys.argv[2], "w"))
