#pragma once
#include "mlir.h"
