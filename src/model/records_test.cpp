#include "model/records.h"

#include <gtest/gtest.h>

namespace model {
namespace {

TEST(Records, what_stands_under_the_key_of_another_is_refused) {
  const struct {
    std::string key;
    std::string value;
    std::string part;  // Of the message.
  } rows[] = {
      {"cluster/a", R"({"name": "b", "status": "ACTIVE"})", "belongs to cluster/b"},
      {"task/c/1", R"({"arn": "arn:aws:ecs:r:1:task/c/2"})", "belongs to task/c/2"},
      {"join-token/1", R"({"id": "2"})", "belongs to join-token/2"},
      {"client-token/c/t", R"({"cluster": "c", "token": "u"})", "belongs to client-token/c/u"},
      {"task-definition/f/1", R"({"family": "f", "revision": 1, "definition": {}})",
       "its taskDefinitionArn is another one's"},
      {"sequence-numbers-of-old", R"({"reservedUntil": 1})", "belongs to sequence-numbers"},
      {"ghost/1", "{}", "no kind of record has such a key"},
  };
  for (const auto& row : rows) {
    ClusterState state;
    const auto loaded = load_record(state, row.key, row.value);
    ASSERT_FALSE(loaded) << row.key;
    EXPECT_EQ(loaded.error().code, "StoreCorrupt");
    EXPECT_NE(loaded.error().message.find(row.key), std::string::npos) << loaded.error().message;
    EXPECT_NE(loaded.error().message.find(row.part), std::string::npos) << loaded.error().message;
  }
}

}  // namespace
}  // namespace model
