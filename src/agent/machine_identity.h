// Which machine a data directory belongs to: a copy of it on another one would speak for the first.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace agent {

class Journal;

// Each is empty where it is not known, and a digest: a machine's id is not told around.
struct MachineIdentity {
  std::string machine;  // Of /etc/machine-id.
  std::string docker;   // Of the ID of `docker info`.
  friend bool operator==(const MachineIdentity&, const MachineIdentity&) = default;
};

// `machine_id` as the file has it; "uninitialized" and the like are not known.
MachineIdentity machine_identity(const std::string& machine_id, const std::string& docker_id);
std::string read_machine_id();

// Of this run of the machine, which no other machine shares, be it a copy of this one's disk, and
// of one place of it. Empty: not known.
std::string running_place(const std::string& place);

// The machine that `journal` was used on so far; what it did not know before, it knows then.
// Another /etc/machine-id is another machine, or a copy of its disk: Docker's id is on that disk.
// Where that file says nothing, Docker's id does. Another Docker on the same machine is one that
// was installed anew: it is told in the log, and its containers are found gone. With `adopt` all of
// it is taken for a machine that was moved. Errors: "AnotherMachine", which names the fix.
base::Result<void> bind_to_machine(Journal& journal, const MachineIdentity& now, bool adopt,
                                   const std::filesystem::path& data_dir);

}  // namespace agent
