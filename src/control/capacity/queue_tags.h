// The tags with which a task tells the queue (capacity provider BERTH_QUEUE) how it wants to wait.
#pragma once

#include "reconcile/queue/tags.h"

namespace control {

using QueueTags = reconcile::queue::Tags;

// Errors: InvalidParameterException naming the tag and its right form.
inline base::Result<QueueTags> read_queue_tags(const api::List<api::ecs::Tag>& tags) {
  return reconcile::queue::read_tags(tags);
}

}  // namespace control
