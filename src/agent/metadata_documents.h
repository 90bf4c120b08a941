// The documents of the task metadata endpoint: one container, and one task.
// Source: as metadata.h.
#pragma once

#include "agent/metadata.h"
#include "json/value.h"

namespace agent {

// One container of one task.
struct Found {
  const core::Task* task = nullptr;
  size_t index = 0;
};

json::Value container_document(const MetadataView& view, const Found& found);
json::Value task_document(const MetadataView& view, const core::Task& task);

}  // namespace agent
