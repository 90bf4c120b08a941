// The largest legal input of each operation of the control plane, for a cluster of any size: for
// the test that each is taken, and for the program that measures the longest step that it makes.
#pragma once

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/any.h"
#include "api/berth.h"
#include "api/generated/ecs.h"
#include "api/json.h"
#include "api/service.h"
#include "auth/key_derivation.h"
#include "base/format.h"
#include "base/result.h"
#include "control/core.h"
#include "control/operations.h"

namespace control::testing {

struct LargeWorldSize {
  size_t instances = 4;  // Of eight GPUs.
  size_t tasks = 40;
  size_t services = 12;
  size_t families = 12;  // Beside those that all here use.
  size_t groups = 12;    // Auto Scaling groups, with a capacity provider each.
};

inline std::string json_text(std::string_view text) {
  return base::format("\"{}\"", text);
}

inline constexpr std::string_view default_cluster =
    "arn:aws:ecs:us-east-1:123456789012:cluster/default";

// A JSON list of count things, each made from its number.
template <class Make>
std::string list(size_t count, Make&& make) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + make(i);
  return text + "]";
}

inline std::string tags(size_t count = 50) {
  return list(count, [](size_t i) {
    return base::format(R"({{"key":"{:0>128}","value":"{:0>256}"}})", i, i);
  });
}

// A control plane with something of every kind in it.
class LargeWorld {
 public:
  // Runs one step of the core; a bench measures it.
  using AroundStep = std::function<void(const std::function<void()>&)>;
  struct Called {
    base::Result<api::Any> answer;
    size_t changes = 0;
    size_t most_changes_a_step = 0;
  };

  explicit LargeWorld(const LargeWorldSize& size) : core_({}, settings(), 1, now_) {
    must("ecs", "CreateCluster", R"({"clusterName":"default"})");
    for (size_t i = 0; i < size.instances; ++i) add_instance(i);
    must("ecs", "RegisterTaskDefinition",
         R"({"family":"small","containerDefinitions":[{"name":"main","image":"i","memory":8}]})");
    must("ecs", "RegisterTaskDefinition",
         R"({"family":"gpu","containerDefinitions":[{"name":"main","image":"i","memory":8,
             "resourceRequirements":[{"type":"GPU","value":"1"}]}]})");
    for (size_t i = 0; i < size.families; ++i) {
      must("ecs", "RegisterTaskDefinition",
           base::format(R"({{"family":"f{}","containerDefinitions":[{{"name":"main","image":"i",
                            "memory":8}}],"tags":{}}})",
                        i, tags(5)));
    }
    for (size_t i = 0; i < size.tasks; i += 10) {
      must("ecs", "RunTask", R"({"taskDefinition":"small","count":10})");
    }
    for (const auto& [arn, task] : core_.state().tasks) tasks_.push_back(arn.str());
    for (const auto& [arn, instance] : core_.state().instances) instances_.push_back(arn.str());
    for (size_t i = 0; i < size.services; ++i) add_service(i);
    must("autoscaling", "CreateLaunchConfiguration",
         R"({"LaunchConfigurationName":"lc","ImageId":"ami-1","InstanceType":"c5.large"})");
    for (size_t i = 0; i < size.groups; ++i) add_group(i);
  }

  Called call(std::string_view service, std::string_view operation, std::string_view input) {
    const Action* const action = find_action(service, operation);
    CHECK(action != nullptr);
    const api::Service& of = service == "autoscaling" ? api::autoscaling_service()
                             : service == "ec2"       ? api::ec2_service()
                             : service == "berth"     ? api::berth_service()
                                                      : api::ecs_service();
    api::Any typed = api::Any::create(*api::find(of, operation)->input);
    const auto read = api::parse_into(input, typed.shape(), typed.data());
    if (!read) return {base::fail(read.error())};
    auth::Caller caller;
    caller.service = service;
    const size_t before = changes_;
    most_changes_a_step_ = 0;
    Output output = step(ApiCall{++last_id_, action, std::move(typed), std::move(caller)});
    auto& result = output.replies.front().result;
    const base::Time end = now_ + base::Milliseconds{1'000};
    while (core_.next_timer() <= end) {
      now_ = std::max(now_, core_.next_timer());
      step(TimerDue{});
    }
    now_ = end;
    if (!result) return {base::fail(result.error()), changes_ - before, most_changes_a_step_};
    return {std::move(*result), changes_ - before, most_changes_a_step_};
  }
  api::Any must(std::string_view service, std::string_view operation, std::string_view input) {
    Called called = call(service, operation, input);
    if (!called.answer) {
      std::fprintf(stderr, "%s: %s\n", std::string(operation).c_str(),
                   called.answer.error().message.c_str());
    }
    CHECK(called.answer.has_value());
    return std::move(*called.answer);
  }

  const model::ClusterState& state() const { return core_.state(); }
  // The nth of what was there at first, going round.
  const std::string& task(size_t n) const { return tasks_.at(n % tasks_.size()); }
  const std::string& instance(size_t n) const { return instances_.at(n % instances_.size()); }
  std::string tasks(size_t count) const {
    return list(count, [this](size_t i) { return json_text(task(i)); });
  }
  std::string instances(size_t count) const {
    return list(count, [this](size_t i) { return json_text(instance(i)); });
  }

  AroundStep around_step = [](const std::function<void()>& run) { run(); };

 private:
  // No agent opens a session here: what registers counts as connected all the same.
  static Settings settings() {
    Settings made;
    made.connect_grace = std::chrono::hours(24 * 365);
    return made;
  }
  Output step(Input input) {
    Output output;
    around_step([&] { output = core_.step(std::move(input), now_); });
    changes_ += output.changes.size();
    most_changes_a_step_ = std::max(most_changes_a_step_, output.changes.size());
    return output;
  }
  void add_instance(size_t n) {
    must(
        "ecs", "RegisterContainerInstance",
        base::format(
            R"({{"instanceIdentityDocument":"{{\"instanceType\":\"p4d.24xlarge\",\"instanceId\":\"i-{}\"}}",
                 "attributes":{},"platformDevices":{}}})",
            n,
            list(60, [](size_t i) { return base::format(R"({{"name":"a{}","value":"v"}})", i); }),
            list(8, [n](size_t i) {
              return base::format(R"({{"id":"GPU-{}-{}","type":"GPU"}})", n, i);
            })));
  }
  void add_service(size_t n) {
    must("ecs", "CreateService",
         base::format(R"({{"serviceName":"s{}","taskDefinition":"small","desiredCount":2}})", n));
  }
  void add_group(size_t n) {
    must(
        "autoscaling", "CreateAutoScalingGroup",
        base::format(
            R"({{"AutoScalingGroupName":"g{}","LaunchConfigurationName":"lc","AvailabilityZones":["us-east-1a"],"MinSize":0,
                          "MaxSize":100,"DesiredCapacity":0}})",
            n));
    must("ecs", "CreateCapacityProvider",
         base::format(
             R"({{"name":"p{}","autoScalingGroupProvider":{{"autoScalingGroupArn":"g{}"}}}})", n,
             n));
  }

  base::Time now_{std::chrono::seconds(1'750'000'000)};
  Core core_;
  RequestId last_id_ = 0;
  size_t changes_ = 0;
  size_t most_changes_a_step_ = 0;      // Of the last call.
  std::vector<std::string> tasks_;      // ARNs.
  std::vector<std::string> instances_;  // ARNs.
};

struct LargestInput {
  std::string_view service;
  std::string_view operation;
  // The nth of them, as JSON: what can be done to a thing only once is done to another each time.
  // It may call what has to be there first.
  std::function<std::string(LargeWorld& world, size_t n)> input;
};

inline LargestInput plain(std::string_view service, std::string_view operation,
                          std::string_view input) {
  return {service, operation, [input](LargeWorld&, size_t) { return std::string(input); }};
}

// memberOf expressions and strategies, as many as a call may have, the expressions as long as they
// may be.
inline std::string placement() {
  std::string expression = "attribute:a1 == v";
  while (expression.size() < 1'900) expression += " and attribute:a2 in [v, w, x, y, z]";
  return base::format(R"("placementConstraints":{},"placementStrategy":{})",
                      list(10,
                           [&](size_t) {
                             return base::format(R"({{"type":"memberOf","expression":"{}"}})",
                                                 expression);
                           }),
                      list(5, [](size_t i) {
                        return base::format(R"({{"type":"spread","field":"attribute:a{}"}})", i);
                      }));
}

// A definition of the most bytes that one may have.
inline std::string large_definition(size_t n) {
  return base::format(R"({{"family":"large{}","tags":{},"containerDefinitions":{}}})", n % 3,
                      tags(), list(10, [](size_t i) {
                        return base::format(
                            R"({{"name":"c{}","image":"i","memory":8,"environment":{}}})", i,
                            list(52, [](size_t j) {
                              return base::format(R"({{"name":"v{}","value":"{:0>40}"}})", j, j);
                            }));
                      }));
}

inline std::string machine_with_the_most(LargeWorld&, size_t n) {
  const std::string attributes = list(190, [](size_t i) {
    return base::format(R"({{"name":"{:0>120}","value":"{:0>120}"}})", i, i);
  });
  const std::string ports = list(100, [](size_t i) { return json_text(std::to_string(i)); });
  const std::string devices = list(64, [n](size_t i) {
    const std::string links =
        list(32, [](size_t j) { return base::format(R"({{"peer":"{:0>120}","lanes":4}})", j); });
    const std::string nics = list(32, [](size_t j) { return base::format("\"{:0>120}\"", j); });
    return base::format(
        R"({{"id":"GPU-large-{}-{}","type":"GPU","berthGpu":{{"model":"{:0>200}","nvLinks":{},"nics":{}}}}})",
        n, i, i, links, nics);
  });
  return base::format(
      R"({{"tags":{},"attributes":{},"platformDevices":{},"totalResources":[
          {{"name":"CPU","integerValue":4096}},{{"name":"MEMORY","integerValue":4096}},
          {{"name":"PORTS","stringSetValue":{}}}]}})",
      tags(), attributes, devices, ports);
}

inline std::string report_with_the_most(LargeWorld& world, size_t n) {
  return base::format(
      R"({{"task":"{}","status":"RUNNING","reason":"{:0>60000}","containers":{},"gpuRelease":{}}})",
      world.task(n), n,
      list(
          1'000,
          [](size_t) {
            return base::format(
                R"({{"containerName":"main","runtimeId":"{:0>200}","status":"RUNNING","networkBindings":{}}})",
                1, list(10, [](size_t i) {
                  return base::format(R"({{"hostPort":{},"containerPort":80}})", 1000 + i);
                }));
          }),
      list(64, [](size_t i) { return base::format(R"({{"gpuId":"GPU-{}","empty":true}})", i); }));
}

inline std::vector<LargestInput> largest_inputs_of_ecs() {
  const auto names = [](size_t count, std::string prefix) {
    return list(count, [prefix](size_t i) { return json_text(prefix + std::to_string(i)); });
  };
  const auto service_of = [](size_t n) { return "s" + std::to_string(n % 10); };
  return {
      plain(
          "ecs", "ContinueServiceDeployment",
          R"({"serviceDeploymentArn":"arn:aws:ecs:us-east-1:123456789012:service-deployment/default/s0/x"})"),
      {"ecs", "CreateCapacityProvider",
       [](LargeWorld& world, size_t n) {
         world.must("autoscaling", "CreateAutoScalingGroup",
                    base::format(R"({{"AutoScalingGroupName":"new{}","MinSize":0,"MaxSize":1,
                                     "LaunchConfigurationName":"lc","AvailabilityZones":["us-east-1a"]}})",
                                 n));
         return base::format(R"({{"name":"new{}","tags":{},"autoScalingGroupProvider":
                                 {{"autoScalingGroupArn":"new{}"}}}})",
                             n, tags(), n);
       }},
      {"ecs", "CreateCluster",
       [](LargeWorld&, size_t n) {
         return base::format(R"({{"clusterName":"c{}","tags":{}}})", n, tags());
       }},
      {"ecs", "CreateService",
       [](LargeWorld&, size_t n) {
         return base::format(R"({{"serviceName":"new{}","taskDefinition":"small","tags":{},
                                 "desiredCount":1000,{}}})",
                             n, tags(), placement());
       }},
      {"ecs", "CreateTaskSet",
       [](LargeWorld& world, size_t n) {
         world.must("ecs", "CreateService",
                    base::format(R"({{"serviceName":"sets{}","desiredCount":100,
                                     "deploymentController":{{"type":"EXTERNAL"}}}})",
                                 n));
         return base::format(R"({{"cluster":"default","service":"sets{}","taskDefinition":"small",
                                 "scale":{{"unit":"PERCENT","value":100}},"tags":{}}})",
                             n, tags());
       }},
      plain("ecs", "DeleteAccountSetting", R"({"name":"taskLongArnFormat"})"),
      {"ecs", "DeleteAttributes",
       [](LargeWorld& world, size_t) {
         return base::format(R"({{"attributes":{}}})", list(10, [&](size_t i) {
                               return base::format(R"({{"name":"a{}","targetId":"{}"}})", 50 + i,
                                                   world.instance(i));
                             }));
       }},
      {"ecs", "DeleteCapacityProvider",
       [](LargeWorld& world, size_t n) {
         world.must("autoscaling", "CreateAutoScalingGroup",
                    base::format(R"({{"AutoScalingGroupName":"del{}","MinSize":0,"MaxSize":1,
                                     "LaunchConfigurationName":"lc","AvailabilityZones":["us-east-1a"]}})",
                                 n));
         world.must("ecs", "CreateCapacityProvider",
                    base::format(R"({{"name":"del{}","autoScalingGroupProvider":
                                     {{"autoScalingGroupArn":"del{}"}}}})",
                                 n, n));
         return base::format(R"({{"capacityProvider":"del{}"}})", n);
       }},
      {"ecs", "DeleteCluster",
       [](LargeWorld& world, size_t n) {
         world.must("ecs", "CreateCluster", base::format(R"({{"clusterName":"del{}"}})", n));
         return base::format(R"({{"cluster":"del{}"}})", n);
       }},
      {"ecs", "DeleteService",
       [](LargeWorld& world, size_t n) {
         world.must("ecs", "CreateService",
                    base::format(R"({{"serviceName":"del{}","taskDefinition":"small",
                                     "desiredCount":500}})",
                                 n));
         return base::format(R"({{"service":"del{}","force":true}})", n);
       }},
      {"ecs", "DeleteTaskDefinitions",
       [](LargeWorld& world, size_t n) {
         const auto name = [n](size_t i) { return base::format("del{}-{}:1", n, i); };
         for (size_t i = 0; i < 10; ++i) {
           world.must("ecs", "RegisterTaskDefinition",
                      base::format(R"({{"family":"del{}-{}","containerDefinitions":
                                       [{{"name":"main","image":"i","memory":8}}]}})",
                                   n, i));
           world.must("ecs", "DeregisterTaskDefinition",
                      base::format(R"({{"taskDefinition":"{}"}})", name(i)));
         }
         return base::format(R"({{"taskDefinitions":{}}})",
                             list(10, [&](size_t i) { return json_text(name(i)); }));
       }},
      {"ecs", "DeleteTaskSet",
       [](LargeWorld& world, size_t n) {
         world.must("ecs", "CreateService",
                    base::format(R"({{"serviceName":"delsets{}","desiredCount":100,
                                     "deploymentController":{{"type":"EXTERNAL"}}}})",
                                 n));
         const api::Any made = world.must(
             "ecs", "CreateTaskSet",
             base::format(R"({{"cluster":"default","service":"delsets{}","taskDefinition":"small",
                              "scale":{{"unit":"PERCENT","value":100}}}})",
                          n));
         return base::format(
             R"({{"cluster":"default","service":"delsets{}","taskSet":"{}","force":true}})", n,
             *made.as<api::ecs::CreateTaskSetResponse>().task_set->task_set_arn);
       }},
      {"ecs", "DeregisterContainerInstance",
       [](LargeWorld& world, size_t) {
         // The one with the most tasks.
         const auto& all = world.state().instances;
         const auto most = std::ranges::max_element(all, {}, [](const auto& entry) {
           return entry.second.status == model::InstanceStatus::Active ? entry.second.tasks.size()
                                                                       : 0;
         });
         return base::format(R"({{"containerInstance":"{}","force":true}})", most->first.str());
       }},
      {"ecs", "DeregisterTaskDefinition",
       [](LargeWorld& world, size_t n) {
         world.must("ecs", "RegisterTaskDefinition",
                    base::format(R"({{"family":"old{}","containerDefinitions":
                                     [{{"name":"main","image":"i","memory":8}}]}})",
                                 n));
         return base::format(R"({{"taskDefinition":"old{}:1"}})", n);
       }},
      plain("ecs", "DescribeCapacityProviders", R"({"include":["TAGS"]})"),
      {"ecs", "DescribeClusters",
       [](LargeWorld&, size_t) {
         return base::format(
             R"({{"clusters":{},"include":["ATTACHMENTS","CONFIGURATIONS","SETTINGS","STATISTICS","TAGS"]}})",
             list(100, [](size_t) { return json_text("default"); }));
       }},
      {"ecs", "DescribeContainerInstances",
       [](LargeWorld& world, size_t) {
         return base::format(R"({{"containerInstances":{},"include":["TAGS"]}})",
                             world.instances(100));
       }},
      plain(
          "ecs", "DescribeServiceDeployments",
          R"({"serviceDeploymentArns":["arn:aws:ecs:us-east-1:123456789012:service-deployment/default/s0/x"]})"),
      plain(
          "ecs", "DescribeServiceRevisions",
          R"({"serviceRevisionArns":["arn:aws:ecs:us-east-1:123456789012:service-revision/default/s0/1"]})"),
      {"ecs", "DescribeServices",
       [names](LargeWorld&, size_t) {
         return base::format(R"({{"services":{},"include":["TAGS"]}})", names(10, "s"));
       }},
      plain("ecs", "DescribeTaskDefinition", R"({"taskDefinition":"f0","include":["TAGS"]})"),
      {"ecs", "DescribeTaskSets",
       [](LargeWorld& world, size_t n) {
         world.must("ecs", "CreateService",
                    base::format(R"({{"serviceName":"seen{}","desiredCount":10,
                                     "deploymentController":{{"type":"EXTERNAL"}}}})",
                                 n));
         return base::format(R"({{"cluster":"default","service":"seen{}","include":["TAGS"]}})", n);
       }},
      {"ecs", "DescribeTasks",
       [](LargeWorld& world, size_t) {
         return base::format(R"({{"tasks":{},"include":["TAGS"]}})", world.tasks(100));
       }},
      {"ecs", "DiscoverPollEndpoint",
       [](LargeWorld& world, size_t n) {
         return base::format(R"({{"containerInstance":"{}"}})", world.instance(n));
       }},
      {"ecs", "GetTaskProtection",
       [](LargeWorld& world, size_t) {
         return base::format(R"({{"cluster":"default","tasks":{}}})", world.tasks(10));
       }},
      plain("ecs", "ListAccountSettings", R"({"effectiveSettings":true})"),
      plain("ecs", "ListAttributes",
            R"({"targetType":"container-instance","attributeName":"a1","maxResults":100})"),
      plain("ecs", "ListClusters", R"({"maxResults":100})"),
      {"ecs", "ListContainerInstances",
       [](LargeWorld&, size_t) {
         std::string filter = "attribute:a1 == v";
         while (filter.size() < 1'900) filter += " and attribute:a2 in [v, w, x, y, z]";
         return base::format(R"({{"filter":"{}","maxResults":100}})", filter);
       }},
      plain("ecs", "ListServiceDeployments", R"({"service":"s0","maxResults":100})"),
      plain("ecs", "ListServices", R"({"maxResults":100})"),
      plain("ecs", "ListServicesByNamespace", R"({"namespace":"none","maxResults":100})"),
      {"ecs", "ListTagsForResource",
       [](LargeWorld& world, size_t n) {
         return base::format(R"({{"resourceArn":"{}"}})", world.task(n));
       }},
      plain("ecs", "ListTaskDefinitionFamilies", R"({"status":"ALL","maxResults":100})"),
      plain("ecs", "ListTaskDefinitions", R"({"sort":"DESC","maxResults":100})"),
      plain("ecs", "ListTasks", R"({"desiredStatus":"RUNNING","maxResults":100})"),
      plain("ecs", "PutAccountSetting", R"({"name":"taskLongArnFormat","value":"enabled"})"),
      plain("ecs", "PutAccountSettingDefault", R"({"name":"taskLongArnFormat","value":"enabled"})"),
      {"ecs", "PutAttributes",
       [](LargeWorld& world, size_t) {
         return base::format(R"({{"attributes":{}}})", list(10, [&](size_t i) {
                               return base::format(
                                   R"({{"name":"{:0>128}","value":"{:0>128}","targetId":"{}"}})", i,
                                   i, world.instance(i));
                             }));
       }},
      {"ecs", "PutClusterCapacityProviders",
       [names](LargeWorld&, size_t) {
         return base::format(R"({{"cluster":"default","capacityProviders":{},
                                 "defaultCapacityProviderStrategy":[]}})",
                             names(10, "p"));
       }},
      {"ecs", "RegisterContainerInstance", machine_with_the_most},
      {"ecs", "RegisterTaskDefinition", [](LargeWorld&, size_t n) { return large_definition(n); }},
      {"ecs", "RunTask",
       [](LargeWorld&, size_t) {
         return base::format(R"({{"taskDefinition":"gpu","count":10,"tags":{},{}}})", tags(),
                             placement());
       }},
      {"ecs", "StartTask",
       [](LargeWorld& world, size_t) {
         return base::format(R"({{"taskDefinition":"small","containerInstances":{},"tags":{}}})",
                             world.instances(10), tags());
       }},
      plain(
          "ecs", "StopServiceDeployment",
          R"({"serviceDeploymentArn":"arn:aws:ecs:us-east-1:123456789012:service-deployment/default/s0/x"})"),
      {"ecs", "StopTask",
       [](LargeWorld& world, size_t n) {
         return base::format(R"({{"task":"{}","reason":"{:0>255}"}})", world.task(n), n);
       }},
      {"ecs", "SubmitAttachmentStateChanges",
       [](LargeWorld&, size_t) {
         return base::format(R"({{"attachments":{}}})", list(100, [](size_t i) {
                               return base::format(
                                   R"({{"attachmentArn":"{:0>250}","status":"ATTACHED"}})", i);
                             }));
       }},
      {"ecs", "SubmitContainerStateChange",
       [](LargeWorld& world, size_t n) {
         return base::format(
             R"({{"task":"{}","containerName":"main","status":"RUNNING","networkBindings":{}}})",
             world.task(n), list(1'000, [](size_t i) {
               return base::format(R"({{"hostPort":{},"containerPort":80}})", 1000 + i);
             }));
       }},
      {"ecs", "SubmitTaskStateChange", report_with_the_most},
      {"ecs", "TagResource",
       [](LargeWorld&, size_t) {
         return base::format(R"({{"resourceArn":"{}","tags":{}}})", default_cluster, tags());
       }},
      {"ecs", "UntagResource",
       [](LargeWorld&, size_t) {
         return base::format(R"({{"resourceArn":"{}","tagKeys":{}}})", default_cluster,
                             list(50, [](size_t i) { return base::format("\"{:0>128}\"", i); }));
       }},
      plain(
          "ecs", "UpdateCapacityProvider",
          R"({"name":"p0","autoScalingGroupProvider":{"managedScaling":{"status":"ENABLED","targetCapacity":90}}})"),
      plain(
          "ecs", "UpdateCluster",
          R"({"cluster":"default","settings":[{"name":"containerInsights","value":"disabled"}]})"),
      plain(
          "ecs", "UpdateClusterSettings",
          R"({"cluster":"default","settings":[{"name":"containerInsights","value":"disabled"}]})"),
      {"ecs", "UpdateContainerAgent",
       [](LargeWorld& world, size_t n) {
         return base::format(R"({{"containerInstance":"{}"}})", world.instance(n));
       }},
      {"ecs", "UpdateContainerInstancesState",
       [](LargeWorld& world, size_t n) {
         return base::format(R"({{"containerInstances":{},"status":"{}"}})", world.instances(10),
                             n % 2 == 0 ? "DRAINING" : "ACTIVE");
       }},
      {"ecs", "UpdateService",
       [service_of](LargeWorld&, size_t n) {
         return base::format(R"({{"service":"{}","desiredCount":500,"taskDefinition":"f0",
                                 "forceNewDeployment":true}})",
                             service_of(n));
       }},
      plain("ecs", "UpdateServicePrimaryTaskSet",
            R"({"cluster":"default","service":"s0","primaryTaskSet":"x"})"),
      {"ecs", "UpdateTaskProtection",
       [](LargeWorld& world, size_t) {
         return base::format(R"({{"cluster":"default","protectionEnabled":true,"tasks":{}}})",
                             world.tasks(10));
       }},
      plain(
          "ecs", "UpdateTaskSet",
          R"({"cluster":"default","service":"s0","taskSet":"x","scale":{"unit":"PERCENT","value":1}})"),
  };
}

inline std::vector<LargestInput> largest_inputs_of_berth() {
  const auto key = [](LargeWorld& world) {
    const api::Any made = world.must("berth", "CreateAgentKey", "{}");
    return *made.as<api::berth::CreateAgentKeyResponse>().access_key_id;
  };
  return {
      plain("berth", "CreateAgentKey", "{}"),
      plain("berth", "CreateJoinToken", R"({"uses":10000})"),
      {"berth", "DeleteAgentKey",
       [key](LargeWorld& world, size_t) { return base::format(R"({{"id":"{}"}})", key(world)); }},
      {"berth", "JoinCluster",
       [](LargeWorld& world, size_t n) {
         const api::Any made = world.must("berth", "CreateJoinToken", R"({"uses":1})");
         return base::format(R"({{"token":"{}","agentName":"{:0>128}"}})",
                             *made.as<api::berth::CreateJoinTokenResponse>().token, n);
       }},
      plain("berth", "ListAgentKeys", "{}"),
      {"berth", "RebindAgentKey",
       [key](LargeWorld& world, size_t n) {
         return base::format(R"({{"id":"{}","containerInstance":"{}"}})", key(world),
                             world.instance(n));
       }},
  };
}

inline std::vector<LargestInput> largest_inputs_of_autoscaling() {
  const auto new_group = [](LargeWorld& world, std::string name) {
    world.must("autoscaling", "CreateAutoScalingGroup",
               base::format(R"({{"AutoScalingGroupName":"{}","MinSize":0,"MaxSize":1000,
                                "LaunchConfigurationName":"lc","AvailabilityZones":["us-east-1a"]}})",
                            name));
    return name;
  };
  const auto group_tags = [](std::string_view group) {
    return list(50, [group](size_t i) {
      return base::format(R"({{"ResourceId":"{}","ResourceType":"auto-scaling-group",
                              "Key":"{:0>128}","Value":"{:0>256}","PropagateAtLaunch":true}})",
                          group, i, i);
    });
  };
  return {
      {"autoscaling", "CreateAutoScalingGroup",
       [group_tags](LargeWorld&, size_t n) {
         const std::string name = "made" + std::to_string(n);
         return base::format(R"({{"AutoScalingGroupName":"{}","MinSize":1000,"MaxSize":1000,
                                 "LaunchConfigurationName":"lc","AvailabilityZones":["us-east-1a"],"Tags":{}}})",
                             name, group_tags(name));
       }},
      {"autoscaling", "CreateLaunchConfiguration",
       [](LargeWorld&, size_t n) {
         return base::format(R"({{"LaunchConfigurationName":"lc{}","ImageId":"ami-1",
                                 "InstanceType":"c5.large","UserData":"{:A>20000}"}})",
                             n, "");
       }},
      {"autoscaling", "CreateOrUpdateTags",
       [group_tags](LargeWorld&, size_t) {
         return base::format(R"({{"Tags":{}}})", group_tags("g0"));
       }},
      {"autoscaling", "DeleteAutoScalingGroup",
       [new_group](LargeWorld& world, size_t n) {
         return base::format(R"({{"AutoScalingGroupName":"{}","ForceDelete":true}})",
                             new_group(world, "gone" + std::to_string(n)));
       }},
      {"autoscaling", "DeleteLaunchConfiguration",
       [](LargeWorld& world, size_t n) {
         world.must("autoscaling", "CreateLaunchConfiguration",
                    base::format(R"({{"LaunchConfigurationName":"gone{}","ImageId":"ami-1",
                                     "InstanceType":"c5.large"}})",
                                 n));
         return base::format(R"({{"LaunchConfigurationName":"gone{}"}})", n);
       }},
      {"autoscaling", "DeleteTags",
       [group_tags](LargeWorld&, size_t) {
         return base::format(R"({{"Tags":{}}})", group_tags("g1"));
       }},
      plain("autoscaling", "DescribeAutoScalingGroups", R"({"MaxRecords":100})"),
      plain("autoscaling", "DescribeAutoScalingInstances", R"({"MaxRecords":50})"),
      plain("autoscaling", "DescribeLaunchConfigurations", R"({"MaxRecords":100})"),
      plain("autoscaling", "DescribeLifecycleHooks", R"({"AutoScalingGroupName":"g0"})"),
      plain("autoscaling", "DescribeLoadBalancerTargetGroups", R"({"AutoScalingGroupName":"g0"})"),
      plain("autoscaling", "DescribeLoadBalancers", R"({"AutoScalingGroupName":"g0"})"),
      plain("autoscaling", "DescribeScalingActivities", R"({"MaxRecords":100})"),
      plain("autoscaling", "DescribeTags", R"({"MaxRecords":100})"),
      plain("autoscaling", "DescribeTrafficSources", R"({"AutoScalingGroupName":"g0"})"),
      plain("autoscaling", "DescribeWarmPool", R"({"AutoScalingGroupName":"g0"})"),
      {"autoscaling", "SetDesiredCapacity",
       [new_group](LargeWorld& world, size_t n) {
         return base::format(R"({{"AutoScalingGroupName":"{}","DesiredCapacity":1000}})",
                             new_group(world, "grown" + std::to_string(n)));
       }},
      plain("autoscaling", "SetInstanceProtection",
            R"({"AutoScalingGroupName":"g0","InstanceIds":[],"ProtectedFromScaleIn":true})"),
      plain("autoscaling", "TerminateInstanceInAutoScalingGroup",
            R"({"InstanceId":"i-none","ShouldDecrementDesiredCapacity":true})"),
      {"autoscaling", "UpdateAutoScalingGroup",
       [new_group](LargeWorld& world, size_t n) {
         return base::format(R"({{"AutoScalingGroupName":"{}","MinSize":1000}})",
                             new_group(world, "wide" + std::to_string(n)));
       }},
  };
}

inline std::vector<LargestInput> largest_inputs_of_ec2() {
  const auto data = [] {
    return base::format(
        R"({{"ImageId":"ami-1","InstanceType":"c5.large","UserData":"{:A>20000}"}})", "");
  };
  const auto new_template = [data](LargeWorld& world, std::string name) {
    world.must(
        "ec2", "CreateLaunchTemplate",
        base::format(R"({{"LaunchTemplateName":"{}","LaunchTemplateData":{}}})", name, data()));
    return name;
  };
  return {
      {"ec2", "CreateLaunchTemplate",
       [data](LargeWorld&, size_t n) {
         return base::format(R"({{"LaunchTemplateName":"made{}","LaunchTemplateData":{}}})", n,
                             data());
       }},
      {"ec2", "CreateLaunchTemplateVersion",
       [=](LargeWorld& world, size_t n) {
         return base::format(R"({{"LaunchTemplateName":"{}","LaunchTemplateData":{}}})",
                             new_template(world, "version" + std::to_string(n)), data());
       }},
      plain("ec2", "CreateTags", R"({"Resources":["lt-0"],"Tags":[{"Key":"k","Value":"v"}]})"),
      {"ec2", "DeleteLaunchTemplate",
       [=](LargeWorld& world, size_t n) {
         return base::format(R"({{"LaunchTemplateName":"{}"}})",
                             new_template(world, "gone" + std::to_string(n)));
       }},
      {"ec2", "DeleteLaunchTemplateVersions",
       [=](LargeWorld& world, size_t n) {
         return base::format(R"({{"LaunchTemplateName":"{}","Versions":{}}})",
                             new_template(world, "less" + std::to_string(n)),
                             list(200, [](size_t i) { return json_text(std::to_string(i + 2)); }));
       }},
      plain("ec2", "DescribeAvailabilityZones", "{}"),
      plain("ec2", "DescribeInstanceTypes", R"({"MaxResults":100})"),
      {"ec2", "DescribeLaunchTemplateVersions",
       [=](LargeWorld& world, size_t n) {
         return base::format(R"({{"LaunchTemplateName":"{}","MaxResults":200}})",
                             new_template(world, "seen" + std::to_string(n)));
       }},
      plain("ec2", "DescribeLaunchTemplates", R"({"MaxResults":200})"),
      {"ec2", "ModifyLaunchTemplate",
       [=](LargeWorld& world, size_t n) {
         return base::format(R"({{"LaunchTemplateName":"{}","DefaultVersion":"1"}})",
                             new_template(world, "changed" + std::to_string(n)));
       }},
  };
}

// Of every operation of the control plane.
inline std::vector<LargestInput> largest_inputs() {
  std::vector<LargestInput> all = largest_inputs_of_ecs();
  for (const auto& more :
       {largest_inputs_of_berth(), largest_inputs_of_autoscaling(), largest_inputs_of_ec2()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace control::testing
