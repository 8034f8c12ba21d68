# Compiles StableHLO programs for a CUDA card that is only described, and says what memory they take. The arguments are the
# description (GpuTargetConfigProto as text) and the programs' files; standard output gets a line of JSON a program. Needs
# jax and jax-cuda13-pjrt, no card. Run by 'entrorouter plan --compile'.
import json
import os
import sys
import time

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"  # tuning measures on the card

import jax_plugins.xla_cuda13
import numpy
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

plugin = os.path.join(os.path.dirname(jax_plugins.xla_cuda13.__file__), "xla_cuda_plugin.so")
api = xla_client.load_pjrt_plugin_dynamically("cuda", plugin)
with open(sys.argv[1]) as f:
    topology = xla_client.make_c_api_device_topology(api, "", target_config=f.read(), topology="1x1x1")
device = topology._make_compile_only_devices()[0]
options = xla_client.CompileOptions()
options.num_replicas = options.num_partitions = 1
options.device_assignment = xla_client.DeviceAssignment.create(numpy.zeros((1, 1), dtype=numpy.int32))
for path in sys.argv[2:]:
    start = time.time()
    with mlir.make_ir_context(), open(path) as f:
        executable = device.client.compile(ir.Module.parse(f.read()), xla_client.DeviceList((device,)), options)
    memory = executable.get_compiled_memory_stats()
    print(json.dumps({
        "arguments": memory.argument_size_in_bytes,
        "outputs": memory.output_size_in_bytes,
        "aliased": memory.alias_size_in_bytes,
        "temporary": memory.temp_size_in_bytes,
        "seconds": time.time() - start,
    }), flush=True)
