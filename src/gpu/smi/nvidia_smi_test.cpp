// Runs the program of emulated containers in a directory that plays the container's root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gpu/embedded.h"

namespace gpu {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Outcome {
  int exit_code = -1;
  std::string output;
};

class nvidia_smi_test : public ::testing::Test {
 protected:
  nvidia_smi_test() {
    std::string name = (fs::temp_directory_path() / "berth-smi-XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "run/berth");
    fs::create_directories(root_ / "dev");
    std::ofstream(root_ / "run/berth/gpus")
        << "berth-gpus\t1\ndriver\t570.133.20\t12.8\n"
        << "gpu\t1\tGPU-aaaa\tTesla V100-SXM2-16GB\t16384\t00000000:00:1C.0\n"
        << "gpu\t3\tGPU-bbbb\tTesla V100-SXM2-16GB\t16384\t00000000:00:1E.0\n";
    fs::create_symlink("/dev/null", root_ / "dev/nvidia1");
    fs::create_symlink("/dev/null", root_ / "dev/nvidia3");
  }
  ~nvidia_smi_test() override { fs::remove_all(root_); }

  Outcome run(const std::string& arguments) const {
    std::string command =
        "cd " + root_.string() + " && " + BERTH_NVIDIA_SMI_FOR_TESTS + " " + arguments + " 2>&1";
    Outcome outcome;
    FILE* pipe = popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    if (pipe == nullptr) return outcome;
    char buffer[4096];
    while (size_t size = fread(buffer, 1, sizeof buffer, pipe)) outcome.output.append(buffer, size);
    int status = pclose(pipe);
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    return outcome;
  }

  fs::path root_;
};

TEST_F(nvidia_smi_test, the_table_lists_the_gpus_of_the_container_and_says_emulated) {
  Outcome table = run("");
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.output,
              AllOf(HasSubstr("|   0  Tesla V100-SXM2-16GB "),
                    HasSubstr("|   1  Tesla V100-SXM2-16GB "), HasSubstr("00000000:00:1E.0"),
                    HasSubstr("16384MiB"), HasSubstr("Driver Version: 570.133.20"),
                    HasSubstr("CUDA Version: 12.8"), HasSubstr("EMULATED")));
  // Every line of the table is as wide as the others.
  size_t start = table.output.find("+--");
  while (start < table.output.size()) {
    size_t end = table.output.find('\n', start);
    if (end != start) EXPECT_EQ(end - start, 91U) << table.output.substr(start, end - start);
    start = end + 1;
  }
}

TEST_F(nvidia_smi_test, the_list_has_a_line_for_each_gpu_with_its_uuid) {
  EXPECT_EQ(run("-L").output,
            "GPU 0: Tesla V100-SXM2-16GB (UUID: GPU-aaaa) [EMULATED]\n"
            "GPU 1: Tesla V100-SXM2-16GB (UUID: GPU-bbbb) [EMULATED]\n");
}

TEST_F(nvidia_smi_test, a_query_answers_in_csv_with_and_without_header_and_units) {
  EXPECT_EQ(run("--query-gpu=index,name,uuid,memory.total,memory.used,driver_version,pci.bus_id,"
                "utilization.gpu --format=csv -i GPU-bbbb")
                .output,
            "index, name, uuid, memory.total [MiB], memory.used [MiB], driver_version, pci.bus_id, "
            "utilization.gpu [%]\n"
            "1, Tesla V100-SXM2-16GB, GPU-bbbb, 16384 MiB, 0 MiB, 570.133.20, 00000000:00:1E.0, 0 "
            "%\n");
  EXPECT_EQ(run("--query-gpu=index,memory.free --format=csv,noheader").output,
            "0, 16384 MiB\n1, 16384 MiB\n");
  EXPECT_EQ(run("--query-gpu='count, memory.total' --format=csv,noheader,nounits --id=0").output,
            "2, 16384\n");
}

TEST_F(nvidia_smi_test, a_gpu_whose_device_node_is_not_there_is_not_listed) {
  fs::remove(root_ / "dev/nvidia1");
  std::ofstream(root_ / "dev/nvidia2") << "a file is no device";
  EXPECT_EQ(run("-L").output, "GPU 0: Tesla V100-SXM2-16GB (UUID: GPU-bbbb) [EMULATED]\n");
  fs::remove(root_ / "dev/nvidia3");
  Outcome none = run("-L");
  EXPECT_EQ(none.exit_code, 6);
  EXPECT_EQ(none.output, "No devices were found\n");
}

TEST_F(nvidia_smi_test, wrong_usage_is_refused_by_name) {
  Outcome option = run("--gpu-reset");
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_THAT(option.output, HasSubstr("--gpu-reset"));
  Outcome field = run("--query-gpu=index,nonsense --format=csv");
  EXPECT_EQ(field.exit_code, 2);
  EXPECT_THAT(field.output, HasSubstr("Field \"nonsense\" is not a valid field to query."));
  EXPECT_EQ(run("--query-gpu=index").exit_code, 2);
  EXPECT_EQ(run("--query-gpu=index --format=xml").exit_code, 2);
  EXPECT_EQ(run("--query-gpu= --format=csv").exit_code, 2);
  EXPECT_EQ(run("-i").exit_code, 2);
  EXPECT_EQ(run("-i 2").exit_code, 6);
}

TEST_F(nvidia_smi_test, a_container_without_the_agents_file_has_no_driver) {
  fs::remove(root_ / "run/berth/gpus");
  Outcome outcome = run("");
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("couldn't communicate"), HasSubstr("berth/gpus")));
  Outcome help = run("--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("EMULATED"), HasSubstr("--query-gpu"),
                                 Not(HasSubstr("couldn't communicate"))));
}

TEST_F(nvidia_smi_test, a_damaged_file_is_read_without_harm) {
  std::ofstream file(root_ / "run/berth/gpus", std::ios::trunc);
  file << "gpu\ngpu\t1\n"
       << std::string(5000, 'x') << "\ngpu\t3\t" << std::string(400, 'u') << "\tname\t1\tbus\n";
  for (int i = 0; i < 200; ++i) file << "gpu\t1\tGPU-" << i << "\tname\t1\tbus\n";
  file.close();
  EXPECT_EQ(run("-L").exit_code, 0);
  EXPECT_EQ(run("").exit_code, 0);
}

TEST(embedded_nvidia_smi, is_a_static_program) {
  std::string_view program = embedded_nvidia_smi();
  ASSERT_GT(program.size(), 1000U);
  EXPECT_EQ(program.substr(0, 4),
            "\x7f"
            "ELF");
  // A dynamic program names its loader.
  EXPECT_EQ(program.find("/ld-linux"), std::string_view::npos);
}

}  // namespace
}  // namespace gpu
