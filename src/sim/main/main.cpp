// berth-sim: seeds of the simulator, one with its trace or many.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/format.h"
#include "json/value.h"
#include "sim/mutants/mutants.h"
#include "sim/sim.h"
#include "sim/workloads/workloads.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  uint64_t seed = 1;
  std::string seeds;  // "1-300".
  double minutes = 0;
  std::string workload;
  std::string mutant;
  bool list = false;
  bool json = false;
};

struct Range {
  uint64_t first = 1;
  uint64_t last = UINT64_MAX;
};

base::Result<Range> parse_range(const std::string& text) {
  Range range;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  const bool dash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '-';
  const auto last = dash ? std::from_chars(first.ptr + 1, end, range.last) : first;
  if (!dash || last.ec != std::errc{} || last.ptr != end || range.first > range.last) {
    return base::fail(
        "InvalidParameterException",
        base::format("--seeds is \"{}\"; it must be two numbers, such as 1-300.", text));
  }
  return range;
}

base::Result<const sim::Workload*> workload_of(const Options& options) {
  const std::string name =
      options.workload.empty() ? std::string(sim::workloads().front().name) : options.workload;
  if (const sim::Workload* const found = sim::find_workload(name)) return found;
  std::vector<std::string_view> names;
  for (const sim::Workload& one : sim::workloads()) names.push_back(one.name);
  return base::fail(
      "InvalidParameterException",
      base::format("There is no workload \"{}\"; there are {}.", name, base::join(names, ", ")));
}

std::string command_of(const sim::RunResult& result, const std::string& mutant) {
  return sim::command_of(result) + (mutant.empty() ? "" : " --mutant " + mutant);
}

json::Value result_as_json(const sim::RunResult& result, const std::string& mutant) {
  json::Value value = json::Value::object({{"seed", result.seed},
                                           {"workload", result.workload},
                                           {"trace", base::format("{:016x}", result.hash)},
                                           {"events", result.events},
                                           {"virtualSeconds", result.lasted.count() / 1000},
                                           {"containers", static_cast<uint64_t>(result.containers)},
                                           {"passed", !result.failure.has_value()}});
  if (!result.failure) return value;
  value.set("checker", result.failure->checker);
  value.set("sentence", result.failure->sentence);
  value.set("atVirtualSeconds", static_cast<double>(result.failure->at.count()) / 1000.0);
  json::Value lines = json::Value::array();
  for (const sim::TraceLine& line : result.latest) lines.push(sim::print(line));
  value.set("latest", std::move(lines));
  value.set("again", command_of(result, mutant));
  return value;
}

void show_failure(const sim::RunResult& result, const std::string& mutant) {
  std::puts(base::format("\nFAILED {} s into seed {}: {}: {}\nto see it again: {}",
                         static_cast<double>(result.failure->at.count()) / 1000.0, result.seed,
                         result.failure->checker, result.failure->sentence,
                         command_of(result, mutant))
                .c_str());
}

int list_names(bool json) {
  json::Value workloads = json::Value::array();
  json::Value mutants = json::Value::array();
  for (const sim::Workload& one : sim::workloads()) {
    if (!json) std::puts(base::format("workload  {:<28} {}", one.name, one.what).c_str());
    workloads.push(json::Value::object({{"name", one.name}, {"what", one.what}}));
  }
  for (const sim::MutantKind& one : sim::all_mutants()) {
    if (!json) std::puts(base::format("mutant    {:<28} {}", one.name, one.what).c_str());
    mutants.push(json::Value::object({{"name", one.name}, {"what", one.what}}));
  }
  if (json) {
    std::puts(json::print(json::Value::object({{"workloads", std::move(workloads)},
                                               {"mutants", std::move(mutants)}}))
                  .c_str());
  }
  return 0;
}

// One seed, with its trace.
base::Result<int> run_one(const Options& options) {
  const sim::Workload* workload = TRY(workload_of(options));
  std::unique_ptr<sim::Mutant> mutant;
  if (!options.mutant.empty()) {
    const sim::MutantKind* const fault = sim::find_mutant(options.mutant);
    if (fault == nullptr) {
      return base::fail("InvalidParameterException",
                        base::format("There is no mutant \"{}\"; berth-sim --list names "
                                     "them.",
                                     options.mutant));
    }
    mutant = fault->make();
    if (options.workload.empty()) workload = sim::find_workload(fault->workload);
  }
  const auto tell = [&](const sim::TraceLine& line) {
    if (options.json) return;
    // At once, so that a broken invariant that aborts leaves the trace behind.
    std::puts(sim::print(line).c_str());
    std::fflush(stdout);
  };
  const sim::RunResult result = mutant == nullptr
                                    ? sim::run_twice(options.seed, *workload, tell)
                                    : sim::run_once(options.seed, *workload, mutant.get(), tell);
  if (options.json) {
    std::puts(json::print(result_as_json(result, options.mutant)).c_str());
  } else if (result.failure) {
    show_failure(result, options.mutant);
  } else {
    std::puts(base::format("\nseed {} passed: {} events, {} containers, {} s of virtual time, "
                           "trace {:016x}{}",
                           result.seed, result.events, result.containers,
                           result.lasted.count() / 1000, result.hash,
                           mutant == nullptr ? " twice" : "")
                  .c_str());
  }
  return result.failure ? 1 : 0;
}

struct Soak {
  uint64_t runs = 0;
  double seconds = 0;
  std::optional<sim::RunResult> failed;

  double per_minute() const { return seconds > 0 ? static_cast<double>(runs) * 60.0 / seconds : 0; }
};

// Seeds one after the other, each with the given workload or all of them in turn.
base::Result<Soak> run_many(const Options& options, const Range& range) {
  const sim::Workload* const given = TRY(workload_of(options));
  const bool in_turn = options.workload.empty();
  const Clock::time_point start = Clock::now();
  Clock::time_point next_word = start + std::chrono::seconds(2);
  Soak soak;
  for (uint64_t seed = range.first; seed >= range.first && seed <= range.last; ++seed) {
    const sim::Workload& workload =
        in_turn ? sim::workloads()[seed % sim::workloads().size()] : *given;
    sim::RunResult result = sim::run_twice(seed, workload);
    ++soak.runs;
    soak.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (result.failure) {
      soak.failed = std::move(result);
      break;
    }
    if (options.minutes > 0 && soak.seconds >= options.minutes * 60) break;
    if (Clock::now() < next_word) continue;
    next_word = Clock::now() + std::chrono::seconds(::isatty(STDERR_FILENO) == 1 ? 1 : 20);
    std::fputs(
        base::format("seed {}: {} passed, {:.0f} a minute\n", seed, soak.runs, soak.per_minute())
            .c_str(),
        stderr);
  }
  return soak;
}

base::Result<int> run_soak(const Options& options) {
  const Range range = options.seeds.empty() ? Range{} : TRY(parse_range(options.seeds));
  const Soak soak = TRY(run_many(options, range));
  if (options.json) {
    json::Value value = json::Value::object(
        {{"seeds", soak.runs}, {"seconds", soak.seconds}, {"seedsPerMinute", soak.per_minute()}});
    value.set("passed", !soak.failed.has_value());
    if (soak.failed) value.set("failure", result_as_json(*soak.failed, {}));
    std::puts(json::print(value).c_str());
  } else {
    if (soak.failed) {
      for (const sim::TraceLine& line : soak.failed->latest) std::puts(sim::print(line).c_str());
      show_failure(*soak.failed, {});
    }
    std::puts(base::format("{} seeds in {:.0f} s, {:.0f} a minute, each run twice: {}", soak.runs,
                           soak.seconds, soak.per_minute(),
                           soak.failed ? "stopped at the first failure" : "all passed")
                  .c_str());
  }
  return soak.failed ? 1 : 0;
}

// Sets `options` and `many`: whether many seeds are wanted.
void add_options(CLI::App& app, Options& options, bool& many) {
  auto* const seed = app.add_option("--seed", options.seed,
                                    "One seed, with its trace; the same seed, the same trace.");
  auto* const seeds = app.add_option("--seeds", options.seeds, "FROM-TO: these, until one fails.");
  auto* const minutes = app.add_option("--minutes", options.minutes,
                                       "For so long, until one fails; from --seeds' first on.")
                            ->check(CLI::PositiveNumber);
  app.add_option("--workload", options.workload,
                 "What the clients do; see --list. Many seeds take all of them in turn.");
  app.add_option("--mutant", options.mutant, "With this mutant, which has to be caught.")
      ->excludes(seeds)
      ->excludes(minutes);
  app.add_flag("--list", options.list, "The workloads and mutants.")->excludes(seed);
  app.add_flag("--json", options.json, "As JSON.");
  seed->excludes(seeds)->excludes(minutes);
  app.callback([&many, seeds, minutes] { many = seeds->count() > 0 || minutes->count() > 0; });
}

int run(int argc, char** argv) {
  CLI::App app(
      "Runs the whole of Berth in simulation: real control plane and agents, virtual time, faults.",
      "berth-sim");
  app.footer("Exit codes: 0 passed, 1 failed (the reason is told), 2 wrong command line.");
  Options options;
  bool many = false;
  add_options(app, options, many);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (options.list) return list_names(options.json);
  const auto code = many ? run_soak(options) : run_one(options);
  if (code) return *code;
  std::fprintf(stderr, "berth-sim: %s (%s)\n", code.error().message.c_str(),
               code.error().code.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv);
}
