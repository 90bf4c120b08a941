#include "control/agents/ecr_image.h"

#include <gtest/gtest.h>

namespace control {
namespace {

TEST(EcrImage, names_its_account_and_region) {
  const EcrRegistry expected{"123456789012", "eu-west-1"};
  for (const char* image : {"123456789012.dkr.ecr.eu-west-1.amazonaws.com/app:1",
                            "123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/app@sha256:00",
                            "123456789012.dkr.ecr-fips.eu-west-1.amazonaws.com/app"}) {
    EXPECT_EQ(ecr_registry_of(image), expected) << image;
  }
  EXPECT_EQ(ecr_registry_of("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/app"),
            (EcrRegistry{"123456789012", "cn-north-1"}));
}

TEST(EcrImage, is_nothing_else) {
  for (const char* image :
       {"", "busybox", "library/busybox:1", "public.ecr.aws/docker/library/busybox",
        "12345678901.dkr.ecr.eu-west-1.amazonaws.com/app",
        "123456789012.dkr.ecr.eu-west-1.amazonaws.com", "123456789012.dkr.ecr..amazonaws.com/app",
        "123456789012.dkr.ecr.amazonaws.com/app", "123456789012.dkr.ecr.eu.west.amazonaws.com/app",
        "a23456789012.dkr.ecr.eu-west-1.amazonaws.com/app",
        "123456789012.dkr.ecr.eu-west-1.amazonaws.com.evil.example/app",
        "evil.example/123456789012.dkr.ecr.eu-west-1.amazonaws.com/app"}) {
    EXPECT_FALSE(ecr_registry_of(image)) << image;
  }
}

}  // namespace
}  // namespace control
