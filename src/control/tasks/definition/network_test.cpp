// Ports, networks and links of a task definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/tasks/definition/testing_definition.h"

namespace control {
namespace {

using namespace definition_testing;
using ::testing::ElementsAre;

TEST(TaskDefinition, the_host_network_maps_each_port_to_itself) {
  EmptyPlane plane;
  const auto answer = plane.register_text(definition(
      container(R"("portMappings": [{"containerPort": 80}])"), R"("networkMode": "host")"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->task_definition->container_definitions[0].port_mappings[0].host_port, 80);
}

TEST(TaskDefinition, ports_are_checked) {
  const auto ports = [](const std::string& mappings, const std::string& mode = "bridge") {
    return definition(container(base::format(R"("portMappings": [{}])", mappings)),
                      base::format(R"("networkMode": "{}")", mode));
  };
  expect_refused({
      {ports(R"({"hostPort": 80})"), client,
       "Invalid 'containerPort' setting for container 'main'."},
      {ports(R"({"containerPort": 0})"), client, "It is 0"},
      {ports(R"({"containerPort": 65536})"), client, "between 1 and 65535"},
      {ports(R"({"containerPort": 80, "hostPort": 65536})"), client, "Invalid 'hostPort'"},
      {ports(R"({"containerPort": 80, "hostPort": -1})"), client, "Invalid 'hostPort'"},
      {ports(R"({"containerPort": 80, "hostPort": 81})", "host"), client,
       "the host ports and container ports in port mappings must match"},
      {ports(R"({"containerPort": 80})", "none"), client, "networkMode=none"},
      {ports(R"({"containerPort": 80, "hostPort": 90}, {"containerPort": 81, "hostPort": 90})"),
       client, "The host port 90/tcp is mapped twice"},
      {ports(R"({"containerPort": 80}, {"containerPort": 80})", "host"), client, "80/tcp"},
      {two(R"("portMappings": [{"containerPort": 80, "hostPort": 90}])",
           R"("portMappings": [{"containerPort": 80, "hostPort": 90}])"),
       client, "container 'b'. The host port 90/tcp is mapped twice"},
      {ports(R"({"containerPort": 80, "protocol": "sctp"})"), parameter, "protocol"},
      {ports(R"({"containerPort": 80, "name": "-x"})"), client, "port mapping name"},
      {ports(R"({"containerPort": 80, "name": "x"}, {"containerPort": 81, "name": "x"})"), client,
       "Two port mappings"},
      {one(R"("disableNetworking": true, "portMappings": [{"containerPort": 80}])"), client,
       "disableNetworking"},
  });
  expect_accepted({
      ports(R"({"containerPort": 80, "hostPort": 0}, {"containerPort": 80})"),
      ports(R"({"containerPort": 53, "hostPort": 53}, {"containerPort": 53, "hostPort": 53,
               "protocol": "udp", "name": "dns", "appProtocol": "http"})"),
      ports(R"({"containerPort": 80, "hostPort": 80})", "host"),
  });
}

TEST(TaskDefinition, ranges_of_ports_are_checked) {
  const auto ports = [](const std::string& mappings, const std::string& mode = "bridge") {
    return definition(container(base::format(R"("portMappings": [{}])", mappings)),
                      base::format(R"("networkMode": "{}")", mode));
  };
  const auto range = [](const std::string& text) {
    return base::format(R"({{"containerPortRange": "{}"}})", text);
  };
  for (const std::string text :
       {"80", "80-", "-80", "90-80", "0-5", "1-65536", "a-b", "1-2-3", ""}) {
    expect_refused({{ports(range(text)), client, "is no range of ports"}});
  }
  expect_refused({
      {ports(R"({"containerPortRange": "80-90", "containerPort": 80})"), client,
       "instead of containerPort"},
      {ports(R"({"containerPortRange": "80-90", "hostPort": 80})"), client, "and hostPort"},
      {ports(range("80-90"), "host"), client, "bridge or awsvpc"},
      {ports(range("80-90") + "," + range("90-99")), client, "80-90 and 90-99 overlap"},
  });
  expect_accepted({
      ports(range("80-90") + "," + range("91-99")),
      ports(range("80-90") + R"(,{"containerPortRange": "80-90", "protocol": "udp"})"),
      ports(range("80-90"), "awsvpc"),
      ports(range("80-90") + R"(,{"containerPort": 100, "hostPort": 0})"),
  });
}

TEST(TaskDefinition, a_task_network_has_one_name_and_no_ports_of_the_host) {
  const std::string mode = R"("networkMode": "awsvpc")";
  const auto in_task_network = [&](const std::string& more) {
    return definition(container(more), mode);
  };
  expect_refused({
      {in_task_network(R"("portMappings": [{"containerPort": 80, "hostPort": 81}])"), client,
       "When networkMode=awsvpc, the host ports and container ports in port mappings must match"},
      {in_task_network(R"("hostname": "h")"), client,
       "The container hostname is not supported when networkMode=awsvpc"},
      {in_task_network(R"("extraHosts": [{"hostname": "h", "ipAddress": "1.2.3.4"}])"), client,
       "Extra hosts is not supported when networkMode=awsvpc"},
      {in_task_network(R"("disableNetworking": true)"), client, "disableNetworking"},
      {two("", R"("links": ["a"])", mode), client, "Links are only supported"},
  });
  EmptyPlane plane;
  const auto answer =
      plane.register_text(in_task_network(R"("portMappings": [{"containerPort": 80}])"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->task_definition->container_definitions[0].port_mappings[0].host_port, 80);
  std::vector<std::string> names;
  for (const auto& one : answer->task_definition->requires_attributes) names.push_back(*one.name);
  EXPECT_THAT(names, ElementsAre("berth.agent", "ecs.capability.task-eni"));
}

TEST(TaskDefinition, links_are_checked) {
  expect_refused({
      {two("", R"("links": ["c"])"), client, "a container that the task does not have"},
      {two("", R"("links": ["b"])"), client, "the container itself"},
      {two("", R"("links": ["a:"])"), client, "name:alias"},
      {two("", R"("links": ["a"])", R"("networkMode": "host")"), client,
       "Links are only supported when networkMode=bridge"},
      {two(R"("disableNetworking": true)", R"("links": ["a"])"), client, "disableNetworking"},
      {two(R"("links": ["b"])", R"("links": ["a"])"), client, "in a circle"},
  });
  expect_accepted({two("", R"("links": ["a:database"])")});
}

}  // namespace
}  // namespace control
