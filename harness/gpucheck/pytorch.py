# The training step of package workload in PyTorch, timed: the sizes of a step come as JSON in the first argument, what
# was measured goes to standard output as one line of JSON. Run by 'entrorouter gpu-check'.
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

step = json.loads(sys.argv[1])
device = "cuda" if torch.cuda.is_available() else "cpu"
compute = getattr(torch, step["compute"])
kept = compute if step["rank"] else torch.float32
torch.manual_seed(1)


def weight(*dims):
    w = torch.ones(*dims, device=device, dtype=kept) if len(dims) == 1 else torch.randn(*dims, device=device, dtype=kept) * 0.02
    return w.requires_grad_(not step["rank"])


D, H, KV, hd, inner, rank = (step[k] for k in ("hidden", "heads", "kv_heads", "head_dim", "inner", "rank"))
shapes = {"q": (H * hd, D), "k": (KV * hd, D), "v": (KV * hd, D), "o": (D, H * hd), "gate": (inner, D), "up": (inner, D), "down": (D, inner)}
layers, adapters = [], []
for _ in range(step["layers"]):
    layer = {name: weight(*dims) for name, dims in shapes.items()}
    layer |= {name: weight(n) for name, n in (("before", D), ("after", D), ("q_norm", hd), ("k_norm", hd))}
    for name, (out, into) in shapes.items() if rank else ():
        layer["A" + name] = (torch.randn(rank, into, device=device) * 0.02).requires_grad_()
        layer["B" + name] = (torch.randn(out, rank, device=device) * 0.02).requires_grad_()
        adapters += [layer["A" + name], layer["B" + name]]
    layers.append(layer)
embed, last = weight(step["vocab"], D), weight(D)
trained = adapters if rank else [embed, last] + [w for layer in layers for w in layer.values()]

at = torch.arange(step["T"], device=device)[:, None] * torch.tensor([step["theta"] ** (-2 * i / hd) for i in range(hd // 2)], device=device)
sin, cos = at.sin(), at.cos()


def norm(x, w):
    x = x.float()
    return (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w.float()).to(compute)


def linear(x, layer, name):
    y = F.linear(x, layer[name].to(compute))
    if rank:
        y = y + 2 * F.linear(F.linear(x, layer["A" + name].to(compute)), layer["B" + name].to(compute))
    return y


def rotate(x):
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(compute)


def run(layer, x):
    y = norm(x, layer["before"])
    q, k, v = (linear(y, layer, name).unflatten(-1, (-1, hd)).transpose(1, 2) for name in "qkv")
    q, k = rotate(norm(q, layer["q_norm"])), rotate(norm(k, layer["k_norm"]))
    k, v = (t.repeat_interleave(H // KV, 1) for t in (k, v))
    x = x + linear(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2), layer, "o")
    y = norm(x, layer["after"])
    return x + linear(F.silu(linear(y, layer, "gate").float()).to(compute) * linear(y, layer, "up"), layer, "down")


tokens = torch.randint(step["vocab"], (step["B"], step["T"]), device=device)
targets = torch.full((step["B"], 3), 1 / 3, device=device)
optimizer = torch.optim.Adam(trained, lr=1e-3)


def train():
    x = F.embedding(tokens, embed).to(compute)
    for layer in layers:
        # Nothing before the adapters has a gradient; checkpoint asks for one without reentrance only.
        x = checkpoint(run, layer, x, use_reentrant=False) if step["checkpoint"] else run(layer, x)
    scores = F.linear(norm(x[:, -1], last), embed[1:4].to(compute)).float()
    loss = -(targets * scores.log_softmax(-1)).sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


times = []
for i in range(step["n"] + 2):
    start = time.perf_counter()
    train()
    if device == "cuda":
        torch.cuda.synchronize()
    times.append(time.perf_counter() - start)
print(json.dumps({
    "version": torch.__version__,
    "device": torch.cuda.get_device_name() if device == "cuda" else "CPU",
    "seconds": statistics.median(times[2:]),
    "memory": torch.cuda.max_memory_allocated() if device == "cuda" else 0,
}))
