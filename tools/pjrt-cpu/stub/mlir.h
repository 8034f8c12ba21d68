// As much of MLIR as XLA's headers name. The wheel has XLA's headers and not MLIR's; a module is passed on as one pointer and
// the plugin never has one, so these declarations are all that is needed to compile. The headers below mlir/ include this one.
#pragma once

namespace mlir {
class Operation;
class MLIRContext;
class DialectRegistry;
class ModuleOp {
  Operation* operation = nullptr;
};
template <class T>
class OwningOpRef {
  T operation;
};
}  // namespace mlir
