// The control daemon of NVIDIA MPS on this machine: one for all its GPUs, started with the first
// container that shares one, watched, and started again when it dies.
//
// It outlives the agent, because containers that share GPUs do; the next agent finds it by its pid
// file and takes it over. It is ended when an agent stops and no container shares a GPU any more.
// MPS serves the processes of one user at a time, so the containers that share a GPU run as the
// same user: root, unless their definitions say otherwise.
// Source: NVIDIA, "Multi-Process Service", sections on the control daemon and environment
// variables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "gpu/devices.h"

namespace agent {

// Below the agent's own directory; `pipe` is mounted at the same path into containers.
struct MpsDirectories {
  std::filesystem::path pipe = {};  // CUDA_MPS_PIPE_DIRECTORY.
  std::filesystem::path log = {};   // CUDA_MPS_LOG_DIRECTORY.
};
MpsDirectories mps_directories(const std::filesystem::path& data_dir);

// Belongs to one thread at a time; every member but is_process() may block for seconds.
class MpsDaemon {
 public:
  struct Timing {
    base::Milliseconds answer{5'000};  // For one command to the daemon.
    base::Milliseconds start{10'000};  // From its start to its first answer.
  };
  explicit MpsDaemon(MpsDirectories directories) : MpsDaemon(std::move(directories), Timing{}) {}
  MpsDaemon(MpsDirectories directories, Timing timing)
      : directories_(std::move(directories)), timing_(timing) {}

  // What the machine has. A daemon that an earlier agent left here is taken over, or started again
  // if it has died meanwhile.
  void machine_has(gpu::MpsSupport support);

  // Before a container that shares a GPU is made. Errors: "UnsupportedFeatureException" where MPS
  // is not on the machine, "GpuDriverException" with what the daemon said when it does not start.
  base::Result<void> ensure_running();

  // To be called now and then: does nothing until the daemon was wanted once; then a daemon that no
  // longer answers is killed and started again.
  void look_after();

  // Nothing shares a GPU any more.
  void stop();

  // A control daemon or server of MPS, run by this machine itself and not in a container.
  static bool is_process(int64_t pid);

 private:
  base::Result<std::string> command(std::string_view text);
  base::Result<void> start();
  bool answers();
  void kill_process();
  std::optional<int64_t> process() const;
  std::filesystem::path pid_file() const;

  MpsDirectories directories_;
  Timing timing_;
  gpu::MpsSupport support_;
  bool wanted_ = false;
};

}  // namespace agent
