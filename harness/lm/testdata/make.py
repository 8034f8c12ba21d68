"""Makes the folders qwen3 and llama: random tiny models and what transformers computes with them.

    python harness/lm/testdata/make.py        needs what tools/python/requirements.txt lists

Each folder is a Hugging Face folder with two files more: reference.json (three texts of different lengths, their loss,
and their greedy continuations) and reference.safetensors (scores at every position of the padded texts, and the loss's gradient
of every weight as gradient.NAME).
"""
import json
import os
import shutil

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_num_threads(1)


def make(name, model, seed, shard):
    torch.manual_seed(seed)
    model.eval()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * (0.3 if p.ndim == 1 else 0.25) + (1 if p.ndim == 1 else 0))
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, max_shard_size=shard)
    lengths = [11, 7, 2]
    tokens = torch.randint(1, model.config.vocab_size, (len(lengths), max(lengths)))
    real = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    tokens = tokens * real
    out = model(tokens, attention_mask=real.long(), labels=torch.where(real, tokens, -100))
    out.loss.backward()
    tensors = {"logits": out.logits.detach().contiguous()}
    for n, p in model.named_parameters():
        tensors["gradient." + n] = p.grad.contiguous()
    save_file(tensors, os.path.join(folder, "reference.safetensors"))
    greedy = []
    for row, n in zip(tokens, lengths):
        text = row[None, :n]
        g = model.generate(text, attention_mask=torch.ones_like(text), max_new_tokens=9, do_sample=False, pad_token_id=0, eos_token_id=None)
        greedy.append(g[0, n:].tolist())
    with open(os.path.join(folder, "reference.json"), "w") as f:
        json.dump({"tokens": [r[:n].tolist() for r, n in zip(tokens, lengths)], "loss": out.loss.item(), "greedy": greedy}, f)
    return folder


make("qwen3", Qwen3ForCausalLM(Qwen3Config(
    vocab_size=96, hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
    head_dim=8, max_position_embeddings=64, rope_theta=5e6, rms_norm_eps=1e-6, tie_word_embeddings=True)), 1, "10GB")

# As transformers 4 wrote it: no head_dim, rope_theta at the top, torch_dtype.
llama = make("llama", LlamaForCausalLM(LlamaConfig(
    vocab_size=80, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1,
    max_position_embeddings=64, rope_theta=1e4, rms_norm_eps=1e-5, tie_word_embeddings=False)), 2, "25KB")
path = os.path.join(llama, "config.json")
with open(path) as f:
    config = json.load(f)
config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
config["torch_dtype"] = config.pop("dtype")
config.pop("head_dim", None)
config["rope_scaling"] = None
with open(path, "w") as f:
    json.dump(config, f, indent=2)
