# What a CUDA card says of us, part 2: what memory training steps really take there, and how fast they are when their kernels are
# chosen on the card. The programs beside this file, as 'entrorouter plan --compile' writes them, are compiled and run by JAX.
#
#     python3 part2.py OUT           on a machine with a card and JAX
#
# Needs no network, no make and no Go, ends within --minutes, and writes a line of JSON a program into OUT/programs.jsonl as it goes.
# Weights are zeros but in place: the first step of a program with donated inputs frees them, so each step gets new ones.
import argparse
import glob
import gzip
import json
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--minutes", type=float, default=8)
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--program", help="measure this one alone and print what there is to say")
args = parser.parse_args()

if not args.program:
    # Each in a process of its own: the peak that a device tells is that of the process.
    end = time.time() + 60 * args.minutes - 15
    os.makedirs(args.out, exist_ok=True)
    programs = sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "*.mlir.gz")), key=os.path.getsize)
    with open(os.path.join(args.out, "programs.jsonl"), "w") as f:
        for path in programs:
            command = [sys.executable, os.path.abspath(__file__), args.out, "--steps", str(args.steps), "--program", path]
            try:
                p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=max(1, end - time.time()))
                said = json.loads(p.stdout.splitlines()[-1]) if p.returncode == 0 else {"error": p.stderr[-2000:]}
            except subprocess.TimeoutExpired:
                said = {"error": "out of time"}
            said = {"program": os.path.basename(path)} | said
            print(json.dumps(said), file=f, flush=True)
            print(json.dumps(said), flush=True)
    sys.exit(all("error" in json.loads(line) for line in open(os.path.join(args.out, "programs.jsonl"))))

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

TYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16, "i32": jnp.int32, "i64": jnp.int64, "f64": jnp.float64}
jax.config.update("jax_enable_x64", True)  # step counts are i64
device = jax.devices()[0]


def peak():
    stats = device.memory_stats()
    return stats.get("peak_bytes_in_use") if stats else None


def measure(path):
    with gzip.open(path, "rt") as f, mlir.make_ir_context():
        module = ir.Module.parse(f.read())
        main = next(op for op in module.body.operations if op.attributes["sym_name"].value == "main")
        of = [(t.shape, TYPES[str(t.element_type)]) for t in map(ir.RankedTensorType, main.attributes["function_type"].value.inputs)]
        options = xla_client.CompileOptions()
        start = time.time()
        program = device.client.compile_and_load(module, xla_client.DeviceList((device,)), options)
    memory = program.get_compiled_memory_stats()
    said = {"device": device.device_kind, "compiled_s": time.time() - start,
            "arguments": memory.argument_size_in_bytes, "outputs": memory.output_size_in_bytes,
            "aliased": memory.alias_size_in_bytes, "temporary": memory.temp_size_in_bytes}
    seconds = []
    for _ in range(args.steps):
        inputs = [jnp.ones(*x) if not x[0] else jnp.zeros(*x) for x in of]
        jax.block_until_ready(inputs)
        start = time.time()
        results = program.execute_sharded(inputs)
        jax.block_until_ready([a for out in results.disassemble_into_single_device_arrays() for a in out])
        seconds.append(time.time() - start)
        del inputs, results
    return said | {"step_s": min(seconds), "peak": peak()}


print(json.dumps(measure(args.program)))
