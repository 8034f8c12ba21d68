"""Compares a folder made of a GGUF file with what transformers makes of the file itself:

    python compare.py FOLDER FILE.gguf < {"texts": [...]} > {...}

Prints the keys that transformers misses in the folder or does not expect, the number of tensors and weights, the largest
difference of a weight and of a logit, and the tokens of the texts by the tokenizer that transformers makes of the file.
Needs torch, transformers, accelerate and gguf.
"""
import json
import os
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, path = sys.argv[1], sys.argv[2]
texts = json.load(sys.stdin)["texts"]
source = {"pretrained_model_name_or_path": os.path.dirname(path), "gguf_file": os.path.basename(path)}
ours, info = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
theirs = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
a, b = ours.state_dict(), theirs.state_dict()
tokenizer = AutoTokenizer.from_pretrained(**source).backend_tokenizer
tokens = torch.tensor([[1, 4093, 198, 1780, 314, 260, 2, 198]]) % ours.config.vocab_size
with torch.no_grad():
    logits = (ours(tokens).logits - theirs(tokens).logits).abs().max().item()
json.dump({
    "wrong": sorted(str(k) for kind in info.values() for k in kind) + sorted(set(a) ^ set(b)),
    "tensors": len(a),
    "weights": sum(p.numel() for p in ours.parameters()),
    "weight": max((a[k] - b[k]).abs().max().item() for k in a),
    "logit": logits,
    "ids": [tokenizer.encode(t, add_special_tokens=False).ids for t in texts],
}, sys.stdout)
