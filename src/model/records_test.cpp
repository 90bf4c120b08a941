#include "model/records.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/format.h"

namespace model {
namespace {

TEST(Records, what_is_not_wholly_understood_is_refused) {
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
      // It would be lost when the record is written the next time.
      {"cluster/a", R"({"name": "a", "status": "ACTIVE", "colour": "red"})",
       "The member colour is not known"},
      {"task/c/1",
       R"({"arn": "arn:aws:ecs:r:1:task/c/1", "containers": [{"name": "m", "age": 1}]})",
       "The member containers[0].age is not known"},
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

TEST(Records, a_task_that_holds_what_its_instance_has_not_is_refused) {
  ClusterState state;
  const std::string arn = "arn:aws:ecs:r:1:task/c/1";
  const std::pair<std::string, std::string> records[] = {
      {"instance/c/i", R"({"arn": "arn:aws:ecs:r:1:container-instance/c/i", "cluster": "c"})"},
      {"task-definition/f/1", R"({"family": "f", "revision": 1, "definition":
          {"taskDefinitionArn": "arn:aws:ecs:r:1:task-definition/f:1"}})"},
      {"task/c/1", base::format(R"({{"arn": "{}", "cluster": "c",
          "instance": "arn:aws:ecs:r:1:container-instance/c/i", "lastStatus": "RUNNING",
          "definition": "arn:aws:ecs:r:1:task-definition/f:1",
          "held": {{"gpus": [{{"container": "main", "gpu": "GPU-gone"}}]}}}})",
                                arn)}};
  for (const auto& [key, value] : records) {
    const auto loaded = load_record(state, key, value);
    ASSERT_TRUE(loaded) << loaded.error().message;
  }
  const auto made = finish_load(state);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "StoreCorrupt");
  EXPECT_NE(made.error().message.find(arn), std::string::npos) << made.error().message;
}

}  // namespace
}  // namespace model
