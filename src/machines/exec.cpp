#include "machines/exec.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agent/child_process.h"
#include "api/base64.h"
#include "base/format.h"
#include "base/text.h"
#include "json/value.h"

namespace machines {
namespace {

constexpr size_t most_reason = 1'000;
constexpr size_t most_id = 255;
constexpr std::string_view blanks = " \t\r\n";

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= most_id &&
         std::ranges::all_of(text, [](char c) { return base::is_plain(c, "-_.:/"); });
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (const auto line = base::trimmed(text.substr(0, end), blanks); !line.empty()) {
      lines.push_back(line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// As the machine would see it.
std::string decoded(const std::string& user_data) {
  auto bytes = api::decode_base64(user_data);
  return bytes ? std::move(*bytes) : user_data;
}

class ExecMachines final : public MachineProvider {
 public:
  explicit ExecMachines(ExecOptions options) : options_(std::move(options)) {}

  base::Result<std::string> launch(const control::LaunchMachine& order) override {
    json::Value tags = json::Value::object();
    for (const auto& [key, value] : order.tags) tags.set(key, value);
    return parse_launched(
        TRY(run({.path = program("launch"),
                 .arguments = {order.token, order.instance_type},
                 .environment = {{"BERTH_GROUP", order.group},
                                 {"BERTH_AVAILABILITY_ZONE", order.availability_zone},
                                 {"BERTH_TAGS", json::print(tags)},
                                 {"BERTH_AGAIN", order.again ? "1" : ""}},
                 .input = decoded(order.user_data),
                 .timeout = options_.launch_timeout})));
  }

  base::Result<void> terminate(const control::TerminateMachine& order) override {
    TRY(run({.path = program("terminate"),
             .arguments = {order.id},
             .environment = {{"BERTH_GROUP", order.group}},
             .timeout = options_.terminate_timeout}));
    return {};
  }

  base::Result<std::vector<control::ListedMachine>> list() override {
    return parse_list(TRY(run({.path = program("list"), .timeout = options_.list_timeout})));
  }

  void cancel() override { cancelled_ = true; }

 private:
  std::string program(const char* name) const { return (options_.folder / name).string(); }

  base::Result<std::string> run(agent::ChildProgram program) {
    program.cancelled = [this] { return cancelled_.load(); };
    program.errors_apart = true;
    agent::ChildEnd end = TRY(agent::run_child(program));
    if (end.exit_code == 0) return std::move(end.output);
    std::string_view said = base::trimmed(end.errors.empty() ? end.output : end.errors, blanks);
    if (said.size() > most_reason) said.remove_prefix(said.size() - most_reason);
    return base::fail("ProgramFailed",
                      base::format("{} ended with code {}: {}", program.path, end.exit_code, said));
  }

  const ExecOptions options_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace

base::Result<std::string> parse_launched(std::string_view output) {
  const auto lines = lines_of(output);
  if (!lines.empty() && is_id(lines.back())) return std::string(lines.back());
  return base::fail(
      "Malformed",
      base::format(
          "The program launch has to print the machine's id (letters, digits and -_.:/) as "
          "the last line of its output, and that was \"{}\".",
          lines.empty() ? std::string_view() : lines.back().substr(0, most_id)));
}

base::Result<std::vector<control::ListedMachine>> parse_list(std::string_view output) {
  std::vector<control::ListedMachine> machines;
  for (const std::string_view line : lines_of(output)) {
    const size_t blank = line.find_first_of(" \t");
    const std::string_view token = line.substr(0, blank);
    const std::string_view id = blank == std::string_view::npos
                                    ? std::string_view()
                                    : base::trimmed(line.substr(blank), blanks);
    if (!is_id(token) || !is_id(id)) {
      return base::fail("Malformed",
                        base::format("The program list has to print lines \"TOKEN ID\", and one "
                                     "was \"{}\".",
                                     line.substr(0, most_id)));
    }
    machines.push_back({std::string(token), std::string(id)});
  }
  return machines;
}

base::Result<std::unique_ptr<MachineProvider>> exec_machines(ExecOptions options) {
  for (const char* const name : {"launch", "terminate", "list"}) {
    const std::filesystem::path program = options.folder / name;
    if (::access(program.c_str(), X_OK) != 0) {
      return base::fail("InvalidParameterException",
                        base::format("--machines exec: wants three programs in its folder, launch, "
                                     "terminate and list, and {} is not there or may not be run.",
                                     program.string()));
    }
  }
  return std::make_unique<ExecMachines>(std::move(options));
}

}  // namespace machines
