"""Encodes texts with the tokenizer that transformers reads from a folder, and decodes token numbers:

    python encode.py FOLDER < {"texts": [...], "ids": [[...], ...]} > {"ids": [[...], ...], "texts": [...], "class": "..."}
"""
import json
import sys

from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
asked = json.load(sys.stdin)
fast = tokenizer.backend_tokenizer
json.dump({
    "ids": [e.ids for e in fast.encode_batch(asked["texts"], add_special_tokens=False)],
    "texts": fast.decode_batch(asked["ids"], skip_special_tokens=False),
    "class": type(tokenizer).__name__,
}, sys.stdout)
