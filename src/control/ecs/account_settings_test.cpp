// What the account sets, and what it cannot.
#include "control/ecs/account_settings.h"

#include <gmock/gmock.h>

#include "control/testing.h"

namespace control {
namespace {

using api::ecs::SettingName;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Plane;

base::Result<api::ecs::PutAccountSettingDefaultResponse> put(Plane& plane, SettingName name,
                                                             const std::string& value) {
  api::ecs::PutAccountSettingDefaultRequest request;
  request.name = name;
  request.value = value;
  return plane.call<api::ecs::PutAccountSettingDefaultResponse>("PutAccountSettingDefault",
                                                                request);
}

// "name=value", in the list's order.
std::vector<std::string> listed(Plane& plane, api::ecs::ListAccountSettingsRequest request = {}) {
  const auto answer =
      plane.call<api::ecs::ListAccountSettingsResponse>("ListAccountSettings", request);
  EXPECT_TRUE(answer) << answer.error().message;
  std::vector<std::string> texts;
  if (!answer) return texts;
  for (const api::ecs::Setting& setting : answer->settings) {
    EXPECT_EQ(setting.principal_arn, "arn:aws:iam::123456789012:root");
    texts.push_back(base::format("{}={}", api::to_string(*setting.name), *setting.value));
  }
  return texts;
}

std::string insights_of_new_cluster(Plane& plane, const std::string& name) {
  api::ecs::CreateClusterRequest request;
  request.cluster_name = name;
  const auto made = plane.call<api::ecs::CreateClusterResponse>("CreateCluster", request);
  EXPECT_TRUE(made && made->cluster->settings.size() == 1);
  return made ? made->cluster->settings.at(0).value.value_or("") : "";
}

TEST(AccountSettings, what_is_put_is_told_back_and_holds_for_new_clusters) {
  Plane plane;
  EXPECT_THAT(listed(plane), IsEmpty());
  EXPECT_EQ(insights_of_new_cluster(plane, "before"), "disabled");
  const auto answer = put(plane, SettingName::ContainerInsights, "enhanced");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->setting->value, "enhanced");
  EXPECT_EQ(answer->setting->type, api::ecs::SettingType::User);
  EXPECT_THAT(listed(plane), ElementsAre("containerInsights=enhanced"));
  EXPECT_EQ(insights_of_new_cluster(plane, "after"), "enhanced");
  EXPECT_EQ(insights_of_new_cluster(plane, "before"), "disabled");

  api::ecs::DeleteAccountSettingRequest gone;
  gone.name = SettingName::ContainerInsights;
  const auto deleted =
      plane.call<api::ecs::DeleteAccountSettingResponse>("DeleteAccountSetting", gone);
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->setting->value, "disabled");
  EXPECT_THAT(listed(plane), IsEmpty());
  EXPECT_TRUE((plane.call<api::ecs::DeleteAccountSettingResponse>("DeleteAccountSetting", gone)));
}

TEST(AccountSettings, the_effective_ones_are_listed_by_name_and_value) {
  Plane plane;
  api::ecs::ListAccountSettingsRequest request;
  request.effective_settings = true;
  EXPECT_THAT(listed(plane, request),
              ElementsAre("awsvpcTrunking=disabled", "containerInsights=disabled",
                          "containerInstanceLongArnFormat=enabled", "fargateFIPSMode=disabled",
                          "guardDutyActivate=off", "serviceLongArnFormat=enabled",
                          "tagResourceAuthorization=off", "taskLongArnFormat=enabled"));
  request.name = SettingName::TaskLongArnFormat;
  EXPECT_THAT(listed(plane, request), ElementsAre("taskLongArnFormat=enabled"));
  request.value = "disabled";
  EXPECT_THAT(listed(plane, request), IsEmpty());

  request = {};
  request.effective_settings = true;
  request.max_results = 7;
  const auto page =
      plane.call<api::ecs::ListAccountSettingsResponse>("ListAccountSettings", request);
  ASSERT_TRUE(page && page->next_token);
  request.next_token = page->next_token;
  EXPECT_THAT(listed(plane, request), ElementsAre("taskLongArnFormat=enabled"));
}

TEST(AccountSettings, one_that_berth_cannot_be_another_way_about_is_refused_by_name) {
  struct Row {
    SettingName name;
    std::string value;
    std::string message;
  };
  const Row rows[] = {
      {SettingName::ContainerInsights, "on", "can be disabled or enabled or enhanced"},
      {SettingName::TaskLongArnFormat, "disabled", "You can no longer disable Long Arn settings"},
      {SettingName::TagResourceAuthorization, "on", "can be off: Berth has no IAM policies"},
      {SettingName::FargateTaskRetirementWaitPeriod, "7", "Berth has no Fargate"},
      {SettingName::DefaultLogDriverMode, "blocking", "logConfiguration"}};
  for (const Row& row : rows) {
    Plane plane;
    const auto answer = put(plane, row.name, row.value);
    ASSERT_FALSE(answer) << row.message;
    EXPECT_EQ(answer.error().code, "InvalidParameterException");
    EXPECT_THAT(answer.error().message, HasSubstr(row.message));
    EXPECT_TRUE(plane.core.state().account_settings.empty());
  }
}

TEST(AccountSettings, only_the_root_user_has_some) {
  Plane plane;
  api::ecs::PutAccountSettingRequest request;
  request.name = SettingName::TaskLongArnFormat;
  request.value = "enabled";
  request.principal_arn = "arn:aws:iam::123456789012:root";
  EXPECT_TRUE((plane.call<api::ecs::PutAccountSettingResponse>("PutAccountSetting", request)));
  EXPECT_THAT(listed(plane), ElementsAre("taskLongArnFormat=enabled"));
  request.principal_arn = "arn:aws:iam::123456789012:user/somebody";
  const auto answer = plane.call<api::ecs::PutAccountSettingResponse>("PutAccountSetting", request);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("user/somebody is not known"));
}

}  // namespace
}  // namespace control
