// A sysfs of a test's own, in a directory that goes with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace gpu {

class FakeSysfs {
 public:
  FakeSysfs() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-gpu-XXXXXX").string();
    root_ = mkdtemp(name.data());
    std::filesystem::create_directories(root_ / "bus/pci/devices");
    std::filesystem::create_directories(root_ / "bus/pci/drivers");
  }
  ~FakeSysfs() { std::filesystem::remove_all(root_); }
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;

  const std::filesystem::path& root() const { return root_; }

  // `above` is the way from the root complex: "pci0000:17/0000:17:00.0/0000:18:00.0".
  std::filesystem::path add(const std::string& above, const std::string& address) {
    std::filesystem::path device = root_ / "devices" / above / address;
    std::filesystem::create_directories(device);
    std::filesystem::create_symlink(device, root_ / "bus/pci/devices" / address);
    return device;
  }
  std::filesystem::path add_gpu(const std::string& above, const std::string& address,
                                const std::string& driver) {
    std::filesystem::path device = add(above, address);
    write(device / "vendor", "0x10de");
    write(device / "class", "0x030200");
    if (!driver.empty()) {
      std::filesystem::create_symlink("../../../bus/pci/drivers/" + driver, device / "driver");
    }
    return device;
  }
  // A network card: its RDMA device where `rdma` names one, and its interface.
  void add_nic(const std::string& above, const std::string& address, const std::string& rdma,
               const std::string& interface) {
    const std::filesystem::path device = add(above, address);
    const auto link = [&](const std::string& kind, const std::string& name) {
      if (name.empty()) return;
      std::filesystem::create_directories(root_ / "class" / kind / name);
      std::filesystem::create_symlink(device, root_ / "class" / kind / name / "device");
    };
    link("infiniband", rdma);
    link("net", interface);
  }
  static void write(const std::filesystem::path& path, const std::string& line) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << line << '\n';
  }

 private:
  std::filesystem::path root_;
};

}  // namespace gpu
