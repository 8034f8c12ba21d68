# Serves one model under several names, until a signal comes or the command after -- ends: a GGUF file by llama.cpp, a Hugging Face
# folder by vLLM on the CPU. Each port is a server in a process of its own. The servers end with this process, however it ends.
#
#   python serve.py MODEL NAME[,NAME...]=PORT... [--parallel N] [--context N] [--float32] [--lora RANK] [--fresh FOLDER] [-- COMMAND...]
#
# One of these at a time works in a folder: it keeps the servers' logs there, and COMMAND may keep what --fresh removes.
#
# Exit code: that of COMMAND; 1 if a server does not start or another works here; 0 after a signal.
import argparse
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HOST = "127.0.0.1"


def by_vllm(model, names, port, parallel, context, float32, lora):
    """Serves in a process of this one's group until standard input ends, which is when the parent does."""
    line = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--served-model-name", *names]
    line += ["--host", HOST, "--port", str(port), "--max-num-seqs", str(parallel), "--max-model-len", str(context), "--enforce-eager"]
    line += ["--dtype", "float32"] * float32
    line += ["--enable-lora", "--max-lora-rank", str(lora)] if lora else []
    # On the CPU vLLM 0.32.0 ends with "CPU Generator does not use offset" where a prompt with a seed is read in chunks.
    line += ["--no-enable-chunked-prefill", "--max-num-batched-tokens", str(parallel * context)]
    # Keys and values have a GiB; threads are not bound to cores, of which containers may not say which they have.
    settings = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    settings["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "true"
    serving = subprocess.Popen(line, stdin=subprocess.DEVNULL, env=os.environ | settings)
    threading.Thread(target=lambda: os._exit(serving.wait()), daemon=True).start()
    sys.stdin.read()
    os.killpg(0, signal.SIGKILL)


def by_llama(model, names, port, parallel, context, float32):
    """Serves in this process until standard input ends, which is when the parent does."""
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path = model
    p.model_alias = set(names)
    p.hostnames = [HOST]
    p.port = port
    p.n_parallel = parallel
    p.n_ctx = parallel * context  # llama.cpp divides it among the slots
    p.kv_unified = False
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
    p.endpoint_metrics = True
    if float32:
        p.cache_type_k = p.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        p.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    serving = xllamacpp.Server(p)  # one that nothing holds stops at once
    sys.stdin.read()
    print("stopping", serving.listening_address, flush=True)
    os._exit(0)


def healthy(port):
    try:
        with urllib.request.urlopen(f"http://{HOST}:{port}/health", timeout=2) as r:
            return r.status == 200
    except (urllib.error.URLError, OSError):
        return False


def alone():
    """Holds this folder until the file that it returns is closed, here and in every process that was given it."""
    lock = open("serving", "a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        sys.exit(f"process {lock.read().strip()} or what it runs works in {os.getcwd()}: wait until it ends, or stop it")
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def main():
    arguments, command = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, command = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("servers", nargs="+", metavar="NAME[,NAME...]=PORT")
    parser.add_argument("--parallel", type=int, default=2, help="answers at a time, of each server")
    parser.add_argument("--context", type=int, default=512, help="tokens of a prompt and its answer")
    parser.add_argument("--float32", action="store_true", help="keep keys and values unrounded")
    parser.add_argument("--lora", type=int, metavar="RANK", help="take adapters of that rank at most while it runs (vLLM)")
    parser.add_argument("--fresh", metavar="FOLDER", help="what is removed first")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args(arguments)
    wanted = [(name, int(port)) for name, _, port in (s.partition("=") for s in a.servers)]
    if a.here:
        (names, port), = wanted
        if os.path.isdir(a.model):
            by_vllm(a.model, names.split(","), port, a.parallel, a.context, a.float32, a.lora)
        by_llama(a.model, names.split(","), port, a.parallel, a.context, a.float32)

    lock = alone()
    for name, port in wanted:
        if healthy(port):
            sys.exit(f"port {port}, which {name} is to have, is taken: stop what serves there")
    if a.fresh:
        shutil.rmtree(a.fresh, ignore_errors=True)
    stopped, run = threading.Event(), None

    def stop(number, _):
        stopped.set()
        if run and number == signal.SIGTERM:  # a terminal sends the others to the command itself
            run.terminate()

    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, stop)
    children = []
    for name, port in wanted:
        log = open(f"{name}.log", "w")
        line = [sys.executable, __file__, a.model, f"{name}={port}", "--parallel", str(a.parallel), "--context", str(a.context), *["--float32"] * a.float32, *(["--lora", str(a.lora)] if a.lora else []), "--here"]
        # A session of its own: Ctrl-C is for the command, which may let answers in flight finish.
        children.append(subprocess.Popen(line, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True))
    try:
        for (name, port), child in zip(wanted, children):
            while not healthy(port):
                if child.poll() is not None:
                    sys.exit(f"the server of {name} ended with {child.returncode} before it was ready: {os.path.abspath(name)}.log says why")
                if stopped.wait(0.1):
                    return 0
            print(f"{name} is served on http://{HOST}:{port}/v1", flush=True)
        if not command:
            stopped.wait()
            return 0
        try:
            run = subprocess.Popen(command, pass_fds=[lock.fileno()])  # it holds the folder as long as it lives
        except OSError as e:
            sys.exit(f"{command[0]} cannot be run: {e.strerror}")
        code = run.wait()
        return code if code >= 0 else 128 - code
    finally:
        for child in children:
            child.stdin.close()  # which is how it knows
        for child in children:
            child.wait()


sys.exit(main())
