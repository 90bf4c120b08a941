#include "machines/emulated.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "api/base64.h"
#include "base/format.h"
#include "base/log.h"
#include "base/queue.h"
#include "json/value.h"

namespace machines {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "machine.json";
constexpr base::Milliseconds tasks_end_within = std::chrono::minutes(5);
constexpr base::Milliseconds look_again{500};

std::unexpected<base::Error> io_error(const fs::path& path, std::string_view what) {
  return base::fail("IoError", base::format("{} {}: is its directory writable and the disk not "
                                            "full?",
                                            what, path.string()));
}

std::string print(const EmulatedMachine& machine, const std::string& token) {
  json::Value attributes = json::Value::object();
  for (const auto& [name, value] : machine.attributes) attributes.set(name, value);
  return json::print(json::Value::object({{"token", token},
                                          {"instanceType", machine.instance_type},
                                          {"availabilityZone", machine.availability_zone},
                                          {"cluster", machine.cluster},
                                          {"attributes", attributes}}));
}

struct Kept {
  std::string token;
  EmulatedMachine machine;
};

base::Result<Kept> read(const fs::path& folder) {
  std::ifstream file(folder / file_name);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto value = json::parse(text);
  Kept kept;
  if (value) {
    kept.token = (*value)["token"].text_or("");
    kept.machine.instance_type = (*value)["instanceType"].text_or("");
    kept.machine.availability_zone = (*value)["availabilityZone"].text_or("");
    kept.machine.cluster = (*value)["cluster"].text_or("");
    for (const json::Field& field : (*value)["attributes"].fields()) {
      kept.machine.attributes[field.name] = field.value.text_or("");
    }
  }
  kept.machine.folder = folder;
  if (kept.token.empty() || kept.machine.instance_type.empty()) {
    return base::fail("Corrupt",
                      base::format("{} does not say what machine it is. Remove its folder when no "
                                   "container of it runs any more.",
                                   (folder / file_name).string()));
  }
  return kept;
}

// Whole or not at all.
base::Result<void> write(const EmulatedMachine& machine, const std::string& token) {
  std::error_code error;
  fs::create_directories(machine.folder.parent_path(), error);
  fs::create_directory(machine.folder, error);
  fs::permissions(machine.folder, fs::perms::owner_all, error);
  const fs::path made = machine.folder / "machine.json.new";
  std::ofstream file(made, std::ios::trunc);
  file << print(machine, token) << std::flush;
  file.close();
  if (!file) return io_error(made, "cannot write");
  fs::rename(made, machine.folder / file_name, error);
  return error ? io_error(machine.folder / file_name, "cannot write") : base::Result<void>();
}

class EmulatedMachines final : public MachineProvider {
 public:
  EmulatedMachines(fs::path folder, StartEmulated start)
      : folder_(std::move(folder)), start_(std::move(start)) {
    table_.push(Table{});
  }

  base::Result<void> start_known() {
    std::error_code error;
    fs::directory_iterator entries(folder_, error);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (error) return io_error(folder_, "cannot read");
    for (const fs::directory_entry& entry : entries) {
      // A launch that did not come as far as its file, or an end that came as far as that.
      if (!fs::exists(entry.path() / file_name)) {
        fs::remove_all(entry.path(), error);
        continue;
      }
      Kept kept = TRY(read(entry.path()));
      Agent agent = TRY(start_(kept.machine));
      with_table([&](Table& table) {
        table.emplace(kept.token, Entry{kept.machine.folder, std::move(agent)});
      });
    }
    return {};
  }

  base::Result<std::string> launch(const control::LaunchMachine& order) override {
    if (cancelled_) return base::fail("Cancelled", "The server is stopping.");
    std::string known;
    with_table([&](Table& table) {
      const auto found = table.find(order.token);
      if (found != table.end()) known = found->second.agent->instance_id();
    });
    if (!known.empty()) return known;
    EmulatedMachine machine;
    machine.folder = folder_ / order.token;
    machine.instance_type = order.instance_type;
    machine.availability_zone = order.availability_zone;
    take_user_data(order.user_data, machine);
    TRY_VOID(write(machine, order.token));
    auto started = start_(machine);
    if (!started) {
      std::error_code error;
      fs::remove_all(machine.folder, error);
      return base::fail(started.error());
    }
    std::string id = (*started)->instance_id();
    with_table([&](Table& table) {
      table.emplace(order.token, Entry{machine.folder, std::move(*started)});
    });
    return id;
  }

  base::Result<void> terminate(const control::TerminateMachine& order) override {
    Entry entry;
    std::string token;
    with_table([&](Table& table) {
      const auto found = std::ranges::find_if(
          table, [&](const auto& one) { return one.second.agent->instance_id() == order.id; });
      if (found == table.end()) return;
      token = found->first;
      entry = found->second;
    });
    if (token.empty()) return {};
    base::Milliseconds left = tasks_end_within;
    while (!entry.agent->end_tasks(look_again)) {
      if (cancelled_) return base::fail("Cancelled", "The server is stopping.");
      left -= look_again;
      if (left <= base::Milliseconds{0}) {
        return base::fail("TasksStillRun", base::format("Containers of {} do not stop.", order.id));
      }
    }
    with_table([&](Table& table) { table.erase(token); });
    entry.agent.reset();
    std::error_code error;
    fs::remove(entry.folder / file_name, error);
    fs::remove_all(entry.folder, error);
    if (error) {
      base::log_warning("{} could not be removed: {}", entry.folder.string(), error.message());
    }
    return {};
  }

  // It reads a folder.
  ListTimes list_times() const override {
    return {.interval = std::chrono::seconds(5), .listed_after = std::chrono::seconds(2)};
  }
  base::Result<std::vector<control::ListedMachine>> list() override {
    std::vector<control::ListedMachine> found;
    with_table([&](Table& table) {
      for (const auto& [token, entry] : table) found.push_back({token, entry.agent->instance_id()});
    });
    return found;
  }

  void cancel() override { cancelled_ = true; }

 private:
  using Agent = std::shared_ptr<EmulatedAgent>;  // Shared by the table and a call that ends it.
  struct Entry {
    fs::path folder;
    Agent agent;
  };
  using Table = std::map<std::string, Entry>;  // By token.

  void with_table(auto&& use) {
    Table table = std::move(*table_.pop());
    use(table);
    table_.push(std::move(table));
  }

  const fs::path folder_;
  const StartEmulated start_;
  std::atomic<bool> cancelled_ = false;
  base::Queue<Table> table_{1};  // Who has taken it has it alone.
};

// The value behind `name=`, up to a blank or a quotation mark.
std::string_view value_of(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find_first_of(" \t\r\n\"'"));
}

// The JSON object behind `name=`, to its closing brace.
std::string_view object_of(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  const size_t open = rest.find('{');
  const size_t close = rest.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return rest.substr(open, close - open + 1);
}

}  // namespace

void take_user_data(const std::string& user_data, EmulatedMachine& machine) {
  const auto bytes = api::decode_base64(user_data);
  const std::string& text = bytes ? *bytes : user_data;
  machine.cluster = value_of(text, "ECS_CLUSTER=");
  const auto attributes = json::parse(std::string(object_of(text, "ECS_INSTANCE_ATTRIBUTES=")));
  if (!attributes) return;
  for (const json::Field& field : attributes->fields()) {
    machine.attributes[field.name] = field.value.text_or("");
  }
}

base::Result<std::unique_ptr<MachineProvider>> emulated_machines(fs::path folder,
                                                                 StartEmulated start) {
  auto made = std::make_unique<EmulatedMachines>(std::move(folder), std::move(start));
  TRY_VOID(made->start_known());
  return made;
}

}  // namespace machines
