// The driver with a disk that fails.
#include "agent/driver.h"

#include <gmock/gmock.h>

#include <atomic>

#include "agent/docker_events.h"
#include "agent/testing.h"
#include "agent/testing_processes.h"
#include "base/log.h"
#include "docker/fake.h"
#include "gpu/fake_devices.h"
#include "sqlite/faulty_vfs.h"

namespace agent {
namespace {

using testing::ControlPlane;
using testing::Seen;

// One life of a driver, up to a task that runs or a disk that fails at the nth write.
struct Life {
  bool fatal = false;
  bool acknowledged = false;
  uint64_t creates = 0;
};

Life live(const std::filesystem::path& directory, sqlite::FaultyVfs& vfs, uint64_t nth) {
  base::SystemClock clock;
  ControlPlane plane;
  docker::FakeRuntime docker;
  docker.add_image("busybox");
  docker.set_time(clock.now() + std::chrono::hours(1));
  std::atomic<bool> fatal = false;
  AgentOptions options = testing::options_for(plane, directory);
  options.agent_name = "a";
  options.on_fatal = [&](const base::Error&) {
    fatal = true;
    plane.poke();
  };
  const Machine machine = describe_machine(options, "i-1").value();
  auto api = ApiClient::create({.server_urls = options.server_urls,
                                .credentials = {"AGENTKEY", "agentsecret"},
                                .tls = {},
                                .region = options.region},
                               clock)
                 .value();
  testing::FakeProcesses processes(docker);
  const DockerAccess access{docker, docker, docker, processes};
  Inbox inbox(1000);
  net::Loop loop(1);
  MetadataServer metadata(loop, inbox, clock);
  core::Config config;
  config.agent_name = "a";
  auto driver =
      Driver::create(
          {.options = options,
           .machine = machine,
           .docker = access,
           .api = *api,
           .loop = loop,
           .inbox = inbox,
           .clock = clock,
           .journal = Journal::open(directory / "agent.db", vfs.name()).value(),
           .gpus = std::make_unique<GpuAccess>(std::make_unique<gpu::FakeDevices>(), processes),
           .metadata = metadata},
          config)
          .value();
  vfs.fail_at(nth, sqlite::Fault::Crash);
  DockerEvents events(access, "a", inbox, clock);
  driver->start();
  EXPECT_TRUE(plane.await([&](Seen& seen) { return fatal || seen.control != nullptr; }));
  if (!fatal) plane.send_task(testing::simple_task("t1", "busybox"));
  EXPECT_TRUE(plane.await(
      [&](Seen& seen) { return fatal || seen.last_submit() == "RUNNING main=RUNNING"; }));
  inbox.close();
  events.stop();
  api->cancel();
  driver->stop();
  loop.stop();
  return {fatal, plane.with([](Seen& seen) { return !seen.acks.empty(); }),
          docker.calls(docker::Operation::Create)};
}

TEST(driver, nothing_leaves_the_agent_before_it_is_in_the_journal) {
  base::set_log_level(base::LogLevel::Error);
  const std::string payload = "payload/" + testing::task_arn("t1");
  const std::string task = "task/" + testing::task_arn("t1");
  bool ended = false;
  uint64_t acknowledged = 0;
  for (uint64_t nth = 1; !ended && nth < 1000; ++nth) {
    SCOPED_TRACE(nth);
    testing::TemporaryDirectory directory;
    sqlite::FaultyVfs vfs("driver-test");
    const Life life = live(directory.path(), vfs, nth);
    EXPECT_TRUE(!life.fatal || vfs.failed());
    ended = !life.fatal;
    vfs.cut_power();
    auto journal = Journal::open(directory.path() / "agent.db", vfs.name());
    ASSERT_TRUE(journal.has_value()) << journal.error().message;
    std::set<std::string> keys;
    for (const auto& record : (*journal)->records().value()) keys.insert(record.key);
    if (life.acknowledged || life.creates > 0) {
      ++acknowledged;
      EXPECT_TRUE(keys.contains(payload) && keys.contains(task));
    }
  }
  EXPECT_TRUE(ended);
  EXPECT_GT(acknowledged, 1U);  // Some of the faults came after the acknowledgement.
}

}  // namespace
}  // namespace agent
