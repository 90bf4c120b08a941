// What every engine demands of a batch.
#pragma once

#include "store/store.h"

namespace store {

// Aborts when a key stands twice in `batch`, or when it is over `limits`: the result would depend
// on the engine. Cost: O(operations).
void check_batch(const Batch& batch, const Limits& limits);

}  // namespace store
