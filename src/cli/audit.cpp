#include "cli/audit.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/format.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/task_settings.h"
#include "cli/terminal.h"
#include "model/ids.h"
#include "server/audit_entry.h"

namespace cli {
namespace {

struct AuditCommand {
  std::string data = default_data_dir().string();
  std::string since;
  AuditFilter filter;
  bool json = false;
};

// "2026-01-31T12:00:00Z", a date, or how long ago.
base::Result<base::Time> parse_since(const std::string& text, base::Time now) {
  if (const auto time = base::parse_rfc3339(text)) return *time;
  const auto ago = parse_duration(text);
  if (ago) return now - *ago;
  return base::fail("InvalidParameterException",
                    base::format("--since is \"{}\"; write how long ago, such as 90m or 24h, or a "
                                 "time such as 2026-01-31T12:00:00Z.",
                                 text));
}

std::string who(const json::Value& identity) {
  const std::string key = identity["accessKeyId"].text_or("");
  const std::string instance = identity["containerInstanceArn"].text_or("");
  const std::string task = identity["taskArn"].text_or("");
  const std::string type = identity["type"].text_or("");
  if (type == "BerthAgent") {
    return base::format(
        "agent {}{}", key,
        instance.empty() ? std::string() : base::format(" of {}", model::short_id(instance)));
  }
  if (type == "AssumedRole") return base::format("task {}", model::short_id(task));
  if (type == "Root") return base::format("key {}", key);
  const std::string claimed = identity["claimedAccessKeyId"].text_or("");
  return claimed.empty() ? "nobody known" : base::format("nobody known, as {}", claimed);
}

// `{"count":3,"failures":...}` as "count=3 ...": what is no text is printed as it stands.
std::string flat(const json::Value& object) {
  std::string text;
  for (const json::Field& field : object.fields()) {
    const std::string* const plain = field.value.as_string();
    text += base::format("{}{}={}", text.empty() ? "" : " ", field.name,
                         plain == nullptr ? json::print(field.value) : *plain);
  }
  return text;
}

base::Result<int> show_audit_log(AuditCommand& options) {
  if (!options.since.empty()) {
    options.filter.since = TRY(parse_since(options.since, base::SystemClock().now()));
  }
  std::vector<Line> lines{{"TIME", "WHO", "FROM", "ACTION", "WHAT", "OUTCOME"}};
  TRY_VOID(read_audit_log(options.data, [&](const std::string& line) {
    const auto entry = json::parse(line);
    if (!entry || !passes(*entry, options.filter)) return;
    if (options.json) {
      print_line(line);
    } else {
      lines.push_back(audit_row(*entry));
    }
  }));
  if (!options.json) print_table(lines, terminal_width());
  return 0;
}

}  // namespace

bool passes(const json::Value& entry, const AuditFilter& filter) {
  if (filter.since) {
    const auto time = base::parse_rfc3339(entry["eventTime"].text_or(""));
    if (!time || *time < *filter.since) return false;
  }
  if (!filter.action.empty() &&
      !base::equal_ignoring_case(entry["eventName"].text_or(""), filter.action)) {
    return false;
  }
  if (filter.refused && !server::is_refusal({entry["errorCode"].text_or(""), {}})) return false;
  if (filter.principal.empty()) return true;
  const auto holds = [&](const json::Value& value) {
    const std::string* const text = value.as_string();
    return text != nullptr && text->contains(filter.principal);
  };
  return holds(entry["sourceIPAddress"]) ||
         std::ranges::any_of(entry["userIdentity"].fields(),
                             [&](const json::Field& field) { return holds(field.value); });
}

std::vector<std::string> audit_row(const json::Value& entry) {
  const std::string time = entry["eventTime"].text_or("");
  if (const auto left_out = entry["leftOut"].fields(); !left_out.empty()) {
    return {time, "-", "-", "-", flat(entry["leftOut"]), "without a line of their own: too many"};
  }
  if (const auto lost = entry["notWritten"].as_int64()) {
    return {time, "-", "-", "-", base::format("{} calls", *lost), "the disk took no line of them"};
  }
  const std::string parameters = flat(entry["requestParameters"]);
  const std::string elements = flat(entry["responseElements"]);
  const std::string code = entry["errorCode"].text_or("");
  return {time,
          who(entry["userIdentity"]),
          entry["sourceIPAddress"].text_or("-"),
          entry["eventName"].text_or("-"),
          parameters.empty() ? "-" : parameters,
          !code.empty()      ? code
          : elements.empty() ? "ok"
                             : "ok: " + elements};
}

base::Result<void> read_audit_log(const std::filesystem::path& dir,
                                  const std::function<void(const std::string& line)>& take) {
  const std::string newest = (dir / audit_file).string();
  int oldest = 0;
  std::error_code ignored;
  while (std::filesystem::exists(base::format("{}.{}", newest, oldest + 1), ignored)) ++oldest;
  for (int number = oldest; number >= 0; --number) {
    const std::string path = number == 0 ? newest : base::format("{}.{}", newest, number);
    std::ifstream file(path);
    if (!file) {
      return base::fail(errno == ENOENT ? "NotFound" : "IoError",
                        base::format("{} cannot be read: {}. It lies in the data directory of the "
                                     "server, whose owner alone can read it; name that directory "
                                     "with --data.",
                                     path, std::strerror(errno)));
    }
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) take(line);
    }
  }
  return {};
}

AuditState audit_state(const std::filesystem::path& dir) {
  AuditState state;
  const std::string path = (dir / audit_file).string();
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return state;
  state.there = true;
  state.private_mode = (about.st_mode & 077) == 0;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.contains("\"BerthNotWritten\"")) continue;
    const auto entry = json::parse(line);
    const auto lost = entry ? (*entry)["notWritten"].as_int64() : std::nullopt;
    if (!lost) continue;
    state.not_written += static_cast<uint64_t>(*lost);
    state.last_loss = (*entry)["eventTime"].text_or("");
  }
  return state;
}

void add_audit(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "audit",
      "Read the audit log of a server, on its machine: every call that changed something, every "
      "read of a secret, and what was refused for lack of rights.");
  const auto options = std::make_shared<AuditCommand>();  // Shared by the parser and the action.
  command->add_option("--data", options->data, "The server's data directory.")
      ->capture_default_str();
  command->add_option("--since", options->since,
                      "From then on: how long ago (90m, 24h), or a time (2026-01-31T12:00:00Z).");
  command->add_option("--principal", options->filter.principal,
                      "Only callers whose key, ARN, container instance, task or address has this "
                      "in it.");
  command->add_option("--action", options->filter.action, "Only this operation: RunTask.");
  command->add_flag("--refused", options->filter.refused, "Only what was refused.");
  command->add_flag("--json", options->json, "The lines as they are kept.");
  command->callback(
      [&action, options] { action = [options] { return show_audit_log(*options); }; });
}

}  // namespace cli
