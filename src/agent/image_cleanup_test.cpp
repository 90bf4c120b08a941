#include "agent/image_cleanup.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/format.h"

namespace agent {
namespace {

using Names = std::vector<std::string>;

const base::Time cleanup_time{std::chrono::seconds(1'750'000'000)};

docker::ImageSummary image(Names names) {
  docker::ImageSummary made;
  made.id = "sha256:" + names.front();
  made.names = std::move(names);
  return made;
}

TEST(ImageCleanup, the_least_recently_used_of_those_it_pulled_go_first) {
  CleanupPolicy policy;
  policy.most_images = 2;
  CleanupRequest request;
  request.now = cleanup_time;
  request.uses = {{"a", cleanup_time - std::chrono::hours(2)},
                  {"r.io/b:1", cleanup_time - std::chrono::hours(4)},
                  {"c:1", cleanup_time - std::chrono::hours(3)},
                  {"young:1", cleanup_time - std::chrono::minutes(30)},
                  {"busy:1", cleanup_time - std::chrono::hours(9)}};
  request.busy = {"busy:1"};
  const std::vector<docker::ImageSummary> images{image({"a:latest"}), image({"r.io/b:1"}),
                                                 image({"c:1"}),      image({"young:1"}),
                                                 image({"busy:1"}),   image({"by-hand:1"})};
  EXPECT_EQ(choose_images(request, policy, images, false), (Names{"r.io/b:1", "c:1"}));
  EXPECT_EQ(choose_images(request, policy, images, true),
            (Names{"r.io/b:1", "c:1", "a", "young:1"}))
      << "on a full disk all go that nobody uses";
}

TEST(ImageCleanup, an_image_with_a_name_that_is_busy_stays_under_all_its_names) {
  CleanupRequest request;
  request.now = cleanup_time;
  request.uses = {{"a:1", cleanup_time - std::chrono::hours(5)},
                  {"a:2", cleanup_time - std::chrono::hours(5)}};
  request.busy = {"a:2"};
  EXPECT_TRUE(choose_images(request, {}, {image({"a:1", "a:2"})}, true).empty());
}

TEST(ImageCleanup, dockers_own_registry_may_be_named_or_not) {
  CleanupRequest request;
  request.now = cleanup_time;
  request.uses = {{"docker.io/library/busybox", cleanup_time - std::chrono::hours(5)}};
  EXPECT_EQ(choose_images(request, {}, {image({"busybox:latest"})}, false),
            Names{"docker.io/library/busybox"});
}

TEST(ImageCleanup, uses_are_kept_as_text) {
  const ImageUses uses{{"a:1", cleanup_time}, {"b", cleanup_time + std::chrono::milliseconds(1)}};
  EXPECT_EQ(parse_image_uses(print_image_uses(uses)), uses);
  EXPECT_TRUE(parse_image_uses("junk").empty());
}

// Nothing that is busy, young, or somebody else's is ever chosen, and never more than allowed.
RC_GTEST_PROP(ImageCleanup, what_is_chosen_may_go, ()) {
  const auto ages = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 180));
  CleanupPolicy policy;
  policy.most_images = *rc::gen::inRange<size_t>(1, 5);
  CleanupRequest request;
  request.now = cleanup_time;
  std::vector<docker::ImageSummary> images;
  for (size_t i = 0; i < ages.size(); ++i) {
    const std::string name = base::format("i{}:1", i);
    images.push_back(image({name}));
    if (i % 3 != 0) request.uses[name] = cleanup_time - std::chrono::minutes(ages[i]);
    if (i % 5 == 0) request.busy.insert(name);
  }
  const Names chosen = choose_images(request, policy, images, false);
  RC_ASSERT(chosen.size() <= policy.most_images);
  base::Time last = base::Time::min();
  for (const std::string& name : chosen) {
    RC_ASSERT(request.uses.contains(name));
    RC_ASSERT(!request.busy.contains(name));
    const base::Time used = request.uses.at(name);
    RC_ASSERT(cleanup_time - used >= policy.minimum_image_age);
    RC_ASSERT(used >= last);
    last = used;
  }
}

}  // namespace
}  // namespace agent
