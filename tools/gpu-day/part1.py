# What a CUDA card says of us, part 1: whether XLA computes there what the Go backend computes, and how fast it trains.
#
#     python3 part1.py OUT                   on a machine with a card, JAX and PyTorch; beside it lies entrorouter.gz
#     python3 part1.py OUT --plugin FILE     another PJRT plugin than JAX's
#
# Needs no network, no make and no Go, ends within --minutes, and writes three files into OUT: machine.json, compared.txt, large.txt. What
# is most worth knowing comes first. Exit code 1 if numbers differ or nothing could be compared.
import argparse
import glob
import gzip
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--plugin")
parser.add_argument("--minutes", type=float, default=8)
parser.add_argument("--compared", default="--shapes tiny,0.6b", help="what is added to the first gpu-check")
parser.add_argument("--large", default="--steps 1 --shapes 1.7b,4b", help="and to the second; empty: there is none")
args = parser.parse_args()
end = time.time() + 60 * args.minutes - 15  # to write what there is
os.makedirs(args.out, exist_ok=True)


def said(*command):
    try:
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
        return p.stdout.strip()
    except (OSError, subprocess.TimeoutExpired) as e:
        return str(e)


def jax_plugin():
    """The PJRT plugin for CUDA that came with JAX, newest first; None where there is none."""
    for name in ("xla_cuda13", "xla_cuda12"):
        try:
            spec = importlib.util.find_spec("jax_plugins." + name)
        except ModuleNotFoundError:
            continue
        for folder in spec.submodule_search_locations if spec else ():
            file = os.path.join(folder, "xla_cuda_plugin.so")
            if os.path.exists(file):
                return file
    return None


plugin = os.path.abspath(args.plugin) if args.plugin else jax_plugin()
machine = {
    "machine": platform.platform(),
    "processors": os.cpu_count(),
    "python": sys.version,
    "libc": platform.libc_ver(),
    "card": said("nvidia-smi"),
    "plugin": plugin,
    "packages": said(sys.executable, "-m", "pip", "list", "--format=freeze"),
}
env = dict(os.environ)
if plugin:
    # pip puts NVIDIA's libraries beside the package of the plugin; its compiler's files lie in the folder with nvvm.
    site = os.path.dirname(os.path.dirname(os.path.dirname(plugin)))
    libraries = sorted(glob.glob(os.path.join(site, "nvidia", "*", "lib")))
    env["LD_LIBRARY_PATH"] = ":".join(libraries + [p for p in [env.get("LD_LIBRARY_PATH")] if p])
    nvvm = sorted(glob.glob(os.path.join(site, "nvidia", "*", "nvvm")))
    if nvvm:
        env["XLA_FLAGS"] = (env.get("XLA_FLAGS", "") + " --xla_gpu_cuda_data_dir=" + os.path.dirname(nvvm[-1])).strip()
    machine |= {"lacking": [line for line in said("ldd", plugin).splitlines() if "not found" in line], "LD_LIBRARY_PATH": env["LD_LIBRARY_PATH"], "XLA_FLAGS": env.get("XLA_FLAGS")}
with open(os.path.join(args.out, "machine.json"), "w") as f:
    json.dump(machine, f, indent=1)
if not plugin:
    sys.exit("there is no PJRT plugin for CUDA: pip install jax-cuda13-pjrt, or name one with --plugin")


def gpu_check(name, more):
    """Runs gpu-check until the time is up; what it said so far is kept."""
    with open(os.path.join(args.out, name), "w") as f:
        command = [program, "gpu-check", "--plugin", plugin, "--python", sys.executable] + more.split()
        try:
            code = subprocess.run(command, stdout=f, stderr=subprocess.STDOUT, env=env, timeout=max(1, end - time.time())).returncode
        except subprocess.TimeoutExpired:
            code = "out of time"
        f.write(f"\nexit code: {code}\n")
    return code


with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, "entrorouter")
    with gzip.open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "entrorouter.gz")) as packed, open(program, "wb") as f:
        shutil.copyfileobj(packed, f)
    os.chmod(program, 0o755)
    failed = gpu_check("compared.txt", args.compared)
    if args.large and failed == 0:
        gpu_check("large.txt", args.large)
with open(os.path.join(args.out, "compared.txt")) as f:
    print(f.read())
sys.exit(failed != 0)
