// What clusters are given, told back, and refused.
#include "control/ecs/cluster_settings.h"

#include <gmock/gmock.h>

#include "control/testing.h"

namespace control {
namespace {

using ::testing::HasSubstr;
using testing::Plane;
using ::testing::SizeIs;

api::List<api::ecs::ClusterSetting> insights(std::string value) {
  api::List<api::ecs::ClusterSetting> settings;
  api::ecs::ClusterSetting& setting = settings.emplace_back();
  setting.name = api::ecs::ClusterSettingName::ContainerInsights;
  setting.value = std::move(value);
  return settings;
}

api::ecs::ClusterConfiguration sessions(api::ecs::ExecuteCommandLogging logging) {
  api::ecs::ClusterConfiguration configuration;
  configuration.execute_command_configuration.emplace().logging = logging;
  return configuration;
}

// With the logging OVERRIDE.
api::ecs::ClusterConfiguration logged(api::ecs::ExecuteCommandLogConfiguration log) {
  auto configuration = sessions(api::ecs::ExecuteCommandLogging::Override);
  configuration.execute_command_configuration->log_configuration = std::move(log);
  return configuration;
}

struct ClusterSettings : ::testing::Test {
  ClusterSettings() {
    api::ecs::CreateClusterRequest request;
    request.cluster_name = "blue";
    request.settings = insights("disabled");
    request.configuration = sessions(api::ecs::ExecuteCommandLogging::Default);
    request.service_connect_defaults.emplace().namespace_ = "shop";
    request.tags.emplace_back().key = "team";
    request.tags.back().value = "vision";
    EXPECT_TRUE((plane.call<api::ecs::CreateClusterResponse>("CreateCluster", request)));
  }

  base::Result<api::ecs::UpdateClusterResponse> update(
      const std::function<void(api::ecs::UpdateClusterRequest&)>& fill) {
    api::ecs::UpdateClusterRequest request;
    request.cluster = "blue";
    fill(request);
    return plane.call<api::ecs::UpdateClusterResponse>("UpdateCluster", request);
  }
  api::ecs::Cluster described(std::vector<api::ecs::ClusterField> include = {
                                  api::ecs::ClusterField::Settings,
                                  api::ecs::ClusterField::Configurations,
                                  api::ecs::ClusterField::Tags}) {
    api::ecs::DescribeClustersRequest request;
    request.clusters = {"blue"};
    for (const auto field : include) request.include.push_back(field);
    const auto response =
        plane.call<api::ecs::DescribeClustersResponse>("DescribeClusters", request);
    CHECK(response.has_value() && response->clusters.size() == 1);
    return response->clusters.front();
  }

  Plane plane;
};

TEST_F(ClusterSettings, what_a_cluster_is_created_with_is_told_back_where_it_is_asked_for) {
  EXPECT_EQ(described().settings, insights("disabled"));
  EXPECT_EQ(described().configuration, sessions(api::ecs::ExecuteCommandLogging::Default));
  EXPECT_EQ(described().service_connect_defaults->namespace_, "shop");
  EXPECT_TRUE(described({}).settings.empty());
  EXPECT_FALSE(described({}).configuration.has_value());
}

TEST_F(ClusterSettings, an_update_alters_what_it_names_alone) {
  auto updated = update([](auto& request) { request.settings = insights("enhanced"); });
  ASSERT_TRUE(updated.has_value());
  EXPECT_EQ(updated->cluster->settings, insights("enhanced"));
  EXPECT_EQ(described().settings, insights("enhanced"));
  EXPECT_EQ(described().configuration, sessions(api::ecs::ExecuteCommandLogging::Default));
  EXPECT_EQ(described().service_connect_defaults->namespace_, "shop");
  EXPECT_THAT(described().tags, SizeIs(1));
  ASSERT_TRUE(update([](auto& request) {
                request.configuration = sessions(api::ecs::ExecuteCommandLogging::None);
              }).has_value());
  EXPECT_EQ(described().settings, insights("enhanced"));
  EXPECT_EQ(described().configuration, sessions(api::ecs::ExecuteCommandLogging::None));
}

TEST_F(ClusterSettings, a_log_group_for_sessions_is_kept_as_it_was_given) {
  const auto bare = logged({.cloud_watch_log_group_name = "/aws/ecs/blue"});
  const auto as_terraform_sends_it = logged({.cloud_watch_log_group_name = "/aws/ecs/blue",
                                             .cloud_watch_encryption_enabled = false,
                                             .s3_bucket_name = "",
                                             .s3_encryption_enabled = false,
                                             .s3_key_prefix = ""});
  for (const auto& configuration : {bare, as_terraform_sends_it}) {
    const auto updated = update([&](auto& request) { request.configuration = configuration; });
    ASSERT_TRUE(updated.has_value()) << updated.error().message;
    EXPECT_EQ(updated->cluster->configuration, configuration);
    EXPECT_EQ(described().configuration, configuration);
  }
}

TEST_F(ClusterSettings, an_empty_namespace_removes_the_default) {
  ASSERT_TRUE(update([](auto& request) {
                request.service_connect_defaults.emplace().namespace_ = "";
              }).has_value());
  EXPECT_FALSE(described().service_connect_defaults.has_value());
}

TEST_F(ClusterSettings, settings_alone_have_an_operation_of_their_own) {
  api::ecs::UpdateClusterSettingsRequest request;
  request.cluster = "blue";
  const auto call = [&] {
    return plane.call<api::ecs::UpdateClusterSettingsResponse>("UpdateClusterSettings", request);
  };
  EXPECT_EQ(call().error().code, "InvalidParameterException") << "no settings";
  request.settings = insights("enabled");
  ASSERT_TRUE(call().has_value());
  EXPECT_EQ(described().settings, insights("enabled"));
  request.cluster = "absent";
  EXPECT_EQ(call().error().code, "ClusterNotFoundException");
  request.cluster.reset();
  EXPECT_EQ(call().error().code, "InvalidParameterException");
}

TEST_F(ClusterSettings, what_cannot_be_kept_is_refused_by_name_and_alters_nothing) {
  using Fill = std::function<void(api::ecs::UpdateClusterRequest&)>;
  struct Case {
    Fill fill;
    std::string code;
    std::string part;
  };
  const std::vector<Case> cases = {
      {[](auto& request) { request.settings = insights("on"); }, "InvalidParameterException",
       "containerInsights is \"on\"; it must be enabled, disabled or enhanced"},
      {[](auto& request) { request.settings.emplace_back().value = "enabled"; },
       "InvalidParameterException", "no name"},
      {[](auto& request) {
         request.configuration = sessions(api::ecs::ExecuteCommandLogging::Override);
       },
       "InvalidParameterException", "logConfiguration is required"},
      {[](auto& request) { request.configuration = logged({}); }, "InvalidParameterException",
       "names nothing to log to"},
      {[](auto& request) {
         request.configuration = logged({.cloud_watch_log_group_name = "",
                                         .cloud_watch_encryption_enabled = false,
                                         .s3_bucket_name = "",
                                         .s3_encryption_enabled = false,
                                         .s3_key_prefix = ""});
       },
       "InvalidParameterException", "names nothing to log to"},
      {[](auto& request) {
         request.configuration = logged({.cloud_watch_log_group_name = "the audit"});
       },
       "InvalidParameterException", "cloudWatchLogGroupName is \"the audit\""},
      {[](auto& request) {
         request.configuration = logged(
             {.cloud_watch_log_group_name = "audit", .cloud_watch_encryption_enabled = true});
       },
       "ClientException", "cloudWatchEncryptionEnabled"},
      {[](auto& request) {
         request.configuration =
             logged({.cloud_watch_log_group_name = "audit", .s3_bucket_name = "audit"});
       },
       "ClientException", "s3BucketName"},
      {[](auto& request) { request.configuration = logged({.s3_key_prefix = "audit"}); },
       "ClientException", "s3KeyPrefix"},
      {[](auto& request) {
         request.configuration =
             logged({.cloud_watch_log_group_name = "audit", .s3_encryption_enabled = true});
       },
       "ClientException", "s3EncryptionEnabled"},
      {[](auto& request) {
         request.configuration = sessions(api::ecs::ExecuteCommandLogging::Default);
         request.configuration->execute_command_configuration->log_configuration.emplace();
       },
       "InvalidParameterException", "You must set logging to 'OVERRIDE'"},
      {[](auto& request) {
         request.configuration = sessions(api::ecs::ExecuteCommandLogging::Default);
         request.configuration->execute_command_configuration->kms_key_id = "alias/key";
       },
       "ClientException", "kmsKeyId"},
      {[](auto& request) {
         request.configuration.emplace().managed_storage_configuration.emplace();
       },
       "ClientException", "managedStorageConfiguration"},
      {[](auto& request) { request.service_connect_defaults.emplace(); },
       "InvalidParameterException", "must have a namespace"},
      {[](auto& request) { request.service_connect_defaults.emplace().namespace_ = "<shop>"; },
       "InvalidParameterException", "none of them <"},
  };
  const api::ecs::Cluster before = described();
  for (const Case& one : cases) {
    const auto refused = update([&](auto& request) {
      request.settings = insights("enhanced");
      one.fill(request);
    });
    ASSERT_FALSE(refused.has_value()) << one.part;
    EXPECT_EQ(refused.error().code, one.code) << one.part;
    EXPECT_THAT(refused.error().message, HasSubstr(one.part));
    EXPECT_EQ(described(), before);

    api::ecs::UpdateClusterRequest wrong;
    one.fill(wrong);
    api::ecs::CreateClusterRequest create;
    create.cluster_name = "green";
    create.settings = wrong.settings;
    create.configuration = wrong.configuration;
    create.service_connect_defaults = wrong.service_connect_defaults;
    const auto made = plane.call<api::ecs::CreateClusterResponse>("CreateCluster", create);
    ASSERT_FALSE(made.has_value()) << one.part;
    EXPECT_EQ(made.error().code, one.code);
  }
}

}  // namespace
}  // namespace control
