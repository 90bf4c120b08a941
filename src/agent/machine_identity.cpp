#include "agent/machine_identity.h"

#include <fstream>
#include <string_view>

#include "agent/journal.h"
#include "base/format.h"
#include "base/log.h"
#include "crypto/crypto.h"

namespace agent {
namespace {

constexpr std::string_view machine_setting = "machine-id";
constexpr std::string_view docker_setting = "docker-id";
// Source: machine-id(5).
constexpr size_t machine_id_digits = 32;
constexpr size_t digest_digits = 16;

std::string first_word_of(const char* path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::string digest_of(std::string_view kind, const std::string& id) {
  if (id.empty()) return {};
  return crypto::sha256_hex(base::format("berth {} {}", kind, id)).substr(0, digest_digits);
}

bool differ(const std::string& one, const std::string& other) {
  return !one.empty() && !other.empty() && one != other;
}

std::unexpected<base::Error> another_machine(const std::filesystem::path& data_dir,
                                             std::string_view sign) {
  return base::fail(
      "AnotherMachine",
      base::format("The data directory {} belongs to another machine: {}. An agent with a copy "
                   "would speak for that machine. Give this one a directory of its own (--data) "
                   "and a join token; only if the machine was really moved, and nothing runs "
                   "where it was, start once with --adopt-data.",
                   data_dir.string(), sign));
}

}  // namespace

std::string read_machine_id() {
  return first_word_of("/etc/machine-id");
}

MachineIdentity machine_identity(const std::string& machine_id, const std::string& docker_id) {
  const bool known = machine_id.size() == machine_id_digits &&
                     machine_id.find_first_not_of("0123456789abcdef") == std::string::npos;
  return {.machine = digest_of("machine", known ? machine_id : std::string()),
          .docker = digest_of("docker", docker_id)};
}

std::string running_place(const std::string& place) {
  const std::string boot = first_word_of("/proc/sys/kernel/random/boot_id");
  return boot.empty() ? std::string() : digest_of("place", boot + " " + place);
}

base::Result<void> bind_to_machine(Journal& journal, const MachineIdentity& now, bool adopt,
                                   const std::filesystem::path& data_dir) {
  const MachineIdentity before{
      .machine = TRY(journal.setting(machine_setting)).value_or(""),
      .docker = TRY(journal.setting(docker_setting)).value_or(""),
  };
  const bool other_machine = differ(before.machine, now.machine);
  const bool other_docker = differ(before.docker, now.docker);
  const bool machine_known = !before.machine.empty() && !now.machine.empty();
  if (!adopt) {
    if (other_machine && other_docker) {
      return another_machine(data_dir,
                             "/etc/machine-id and Docker's id are not those it was used "
                             "with");
    }
    if (other_machine) {
      return another_machine(data_dir,
                             "/etc/machine-id is not the one it was used with, which "
                             "is so after a copy of its whole disk, too");
    }
    if (other_docker && !machine_known) {
      return another_machine(data_dir,
                             "Docker's id is not the one it was used with, and there is "
                             "no /etc/machine-id to tell that it is the same machine");
    }
  }
  if (other_machine || (other_docker && !machine_known)) {
    base::log_warning("the data directory {} is adopted by this machine: --adopt-data",
                      data_dir.string());
  } else if (other_docker) {
    base::log_warning(
        "this machine has another Docker than before: it was installed anew, or has another "
        "directory of data. Containers that the agent knew are looked for and found gone.");
  }
  if (!now.machine.empty() && now.machine != before.machine) {
    TRY_VOID(journal.set_setting(machine_setting, now.machine));
  }
  if (!now.docker.empty() && now.docker != before.docker) {
    TRY_VOID(journal.set_setting(docker_setting, now.docker));
  }
  return {};
}

}  // namespace agent
