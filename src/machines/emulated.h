// Machines that are not there: each is an agent of this process that says it is a machine of that
// type; its containers are real. A folder keeps what is known of each, so that the next process
// takes them over.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "machines/provider.h"

namespace machines {

struct EmulatedMachine {
  std::filesystem::path folder;  // The agent's own.
  std::string instance_type;
  std::string availability_zone;  // Empty: the agent's default.
  // As user data for the ECS agent names them; empty: the agent's defaults.
  std::string cluster;
  std::map<std::string, std::string> attributes;
};

// The agent of one such machine. Any thread.
class EmulatedAgent {
 public:
  virtual ~EmulatedAgent() = default;  // The agent goes; containers go on.
  virtual const std::string& instance_id() const = 0;
  // Stops all tasks and removes their containers, waiting for so long at most. True: none is left.
  virtual bool end_tasks(base::Milliseconds timeout) = 0;
};
// Errors: those of the agent's start; InvalidParameterException for an unknown type.
using StartEmulated =
    std::function<base::Result<std::unique_ptr<EmulatedAgent>>(const EmulatedMachine&)>;

// Starts the machines that the folder knows. Errors: "IoError", "Corrupt" naming the file.
base::Result<std::unique_ptr<MachineProvider>> emulated_machines(std::filesystem::path folder,
                                                                 StartEmulated start);

// What user data for the ECS agent asks: ECS_CLUSTER and ECS_INSTANCE_ATTRIBUTES (a JSON object),
// wherever they stand in it. `user_data`: base64, or as it is.
// Source: ECS Developer Guide, "Bootstrapping Amazon ECS Linux container instances".
void take_user_data(const std::string& user_data, EmulatedMachine& machine);

}  // namespace machines
