// How the plugin for a card is installed, which XLA needs.

package policy

// cudaPlugin is what installs the PJRT plugin for CUDA.
const cudaPlugin = "pip install jax-cuda13-pjrt"
