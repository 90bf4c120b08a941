#include "placement/replay/replay.h"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "placement/replay/generator.h"
#include "placement/replay/report.h"

namespace cli {
namespace {

namespace replay = placement::replay;

constexpr std::chrono::seconds replay_quiet_time{2};
constexpr std::chrono::milliseconds progress_interval{500};

struct ReplayCommand {
  std::string nodes;
  std::string pods;
  std::vector<std::string> policies{"berth"};
  std::string order = "seed";
  uint64_t seed = 42;
  bool json = false;
  std::string csv;
  std::string svg;
};

int64_t monotonic_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Says on standard error how far a run of over two seconds is: on a terminal on one line, else a
// line now and then.
class Progress {
 public:
  explicit Progress(std::string what)
      : what_(std::move(what)), next_(Clock::now() + replay_quiet_time) {}
  ~Progress() {
    if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(size_t done, size_t all) {
    if (Clock::now() < next_) return;
    next_ = Clock::now() + (terminal_ ? progress_interval : progress_interval * 4);
    shown_ = true;
    const std::string line = base::format("{}: {} of {} tasks, {} %", what_, done, all,
                                          all == 0 ? 100 : 100 * done / all);
    std::fputs(terminal_ ? base::format("\r{}\033[K", line).c_str() : (line + "\n").c_str(),
               stderr);
    std::fflush(stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::string what_;
  Clock::time_point next_;
  bool shown_ = false;
};

base::Result<std::string> read_trace(const std::string& path) {
  struct stat found{};
  std::ifstream file(path, std::ios::binary);
  if (!file || ::stat(path.c_str(), &found) != 0) {
    return base::fail("IoError", base::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(found.st_mode)) {
    return base::fail("IoError", base::format("cannot read {}: it is a directory", path));
  }
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

base::Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    return base::fail("IoError", base::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  return {};
}

// The parser's sentence names the line and the column; this adds the file.
template <class List>
base::Result<List> in_file(const std::string& path, base::Result<List> parsed) {
  if (parsed) return parsed;
  return base::fail(parsed.error().code, base::format("{}: {}", path, parsed.error().message));
}

base::Result<replay::Trace> load(const ReplayCommand& options) {
  if (options.nodes.empty()) return replay::generate({});
  replay::Trace trace;
  trace.nodes = TRY(in_file(options.nodes, replay::parse_nodes(TRY(read_trace(options.nodes)))));
  trace.pods = TRY(in_file(options.pods, replay::parse_pods(TRY(read_trace(options.pods)))));
  return trace;
}

base::Result<replay::Result> run_policy(const ReplayCommand& options, const replay::Trace& trace,
                                        const std::string& name) {
  Progress progress(base::format("replaying with policy {}", name));
  replay::Options settings;
  settings.policy = *placement::parse_policy(name);  // The command line took no other.
  settings.order = options.order == "given" ? replay::Order::Given : replay::Order::Seed;
  settings.seed = options.seed;
  settings.now_ns = monotonic_ns;
  settings.on_progress = [&progress](size_t done, size_t all) { progress.show(done, all); };
  replay::Result result = TRY(replay::run(trace.nodes, trace.pods, settings));
  result.generated = options.nodes.empty();
  return result;
}

void print_results(const ReplayCommand& options, const std::vector<replay::Result>& results) {
  std::string text;
  for (const replay::Result& result : results) {
    if (!text.empty()) text += options.json ? "," : "\n";
    text += options.json ? replay::print_json(result) : replay::print_table(result);
  }
  if (options.json && results.size() > 1) text = base::format("{{\"results\":[{}]}}", text);
  if (options.json) text += '\n';
  print_lines(text);
}

base::Result<int> replay_trace(const ReplayCommand& options) {
  const replay::Trace trace = TRY(load(options));
  std::vector<replay::Result> results;
  for (const std::string& policy : options.policies) {
    results.push_back(TRY(run_policy(options, trace, policy)));
  }
  print_results(options, results);
  if (!options.csv.empty()) TRY_VOID(write_file(options.csv, replay::print_csv(results)));
  if (!options.svg.empty()) TRY_VOID(write_file(options.svg, replay::print_svg(results)));
  return 0;
}

}  // namespace

void add_replay(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "replay",
      "Replay a trace of arriving tasks through the placement engine and print how much of the "
      "GPUs gets allocated. Needs no server and changes nothing. Without files the trace is "
      "generated: good for comparing policies, no measurement of a real cluster.");
  const auto options = std::make_shared<ReplayCommand>();  // Shared by the parser and the action.
  CLI::Option* const nodes =
      command->add_option("--nodes", options->nodes,
                          "The instances, in the format of Alibaba's cluster-trace-gpu-v2023: "
                          "sn,cpu_milli,memory_mib,gpu,model.");
  CLI::Option* const pods = command->add_option(
      "--pods", options->pods,
      "The tasks: name,cpu_milli,memory_mib,num_gpu,gpu_milli and, where there is one, gpu_spec.");
  nodes->needs(pods);
  pods->needs(nodes);
  command
      ->add_option("--policy", options->policies,
                   "berth, fgd, bestfit or random; several, with commas between, are compared.")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"berth", "fgd", "bestfit", "random"}))
      ->capture_default_str();
  command
      ->add_option("--order", options->order,
                   "given: the rows of the pods file, one by one. seed: shuffled, and inflated to "
                   "130 % of the GPUs by drawing from the file.")
      ->check(CLI::IsMember({"given", "seed"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of all that is random.")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json,
                    "As JSON; with several policies in a list \"results\".");
  command->add_option("--csv", options->csv, "Also write the points as CSV to this file.");
  command->add_option("--svg", options->svg, "Also write a plot to this file.");
  command->callback([&action, options] { action = [options] { return replay_trace(*options); }; });
}

}  // namespace cli
