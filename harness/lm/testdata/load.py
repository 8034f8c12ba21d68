"""Loads a folder with transformers and writes what it computes: load.py FOLDER TOKENS.json OUT.json

TOKENS.json is a list of texts, each a list of tokens. OUT.json has the keys that the folder lacks or has too many, and the
scores of the next token after each text.
"""
import json
import sys

import torch
from transformers import AutoModelForCausalLM

folder, tokens, out = sys.argv[1:]
model, info = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True, dtype=torch.float32)
model.eval()
with torch.no_grad():
    scores = [model(torch.tensor([t])).logits[0, -1].tolist() for t in json.load(open(tokens))]
keys = sorted(info["missing_keys"]) + sorted(info["unexpected_keys"]) + [str(k) for k in info["mismatched_keys"]]
json.dump({"keys": keys, "class": type(model).__name__, "scores": scores}, open(out, "w"))
