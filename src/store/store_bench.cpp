// Durable commits a second, beside what the disk itself can do: appending to a file and syncing it.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "base/random.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "store/temporary_directory.h"

namespace store {
namespace {

constexpr base::Milliseconds at_once{0};
constexpr size_t value_size = 1'500;  // A task's record as JSON.

// `count` records at random places among 100,000 tasks.
Batch random_batch(base::Random& random, int64_t count) {
  Batch batch;
  while (std::cmp_less(batch.puts.size(), count)) {
    std::string key = "task/default/" + std::to_string(random.below(100'000));
    bool taken = false;
    for (const Put& put : batch.puts) taken = taken || put.key == key;
    if (!taken) batch.puts.push_back({std::move(key), random.hex(value_size)});
  }
  return batch;
}

// The floor: one append of the batch's bytes and one fdatasync.
void floor_append_and_sync(benchmark::State& state) {
  const TemporaryDirectory directory;
  const int file = ::open(directory.file("floor").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string bytes(static_cast<size_t>(state.range(0)) * value_size, 'x');
  for (auto _ : state) {
    if (::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
        ::fdatasync(file) != 0) {
      state.SkipWithError("the disk failed");
      break;
    }
  }
  ::close(file);
  state.counters["writes"] = benchmark::Counter(
      static_cast<double>(state.iterations() * state.range(0)), benchmark::Counter::kIsRate);
}
BENCHMARK(floor_append_and_sync)->Arg(1)->Arg(16)->Arg(100)->Arg(1'000)->UseRealTime();

void run_commits(benchmark::State& state, Store& store) {
  const auto epoch = store.campaign("bench", at_once);
  base::Random random(1);
  for (auto _ : state) {
    state.PauseTiming();
    const Batch batch = random_batch(random, state.range(0));
    state.ResumeTiming();
    if (!epoch || store.commit(*epoch, batch) != CommitOutcome::Committed) {
      state.SkipWithError("the commit failed");
      break;
    }
  }
  state.counters["writes"] = benchmark::Counter(
      static_cast<double>(state.iterations() * state.range(0)), benchmark::Counter::kIsRate);
}

void sqlite_commit(benchmark::State& state) {
  const TemporaryDirectory directory;
  const auto store = SqliteStore::open(directory.file("records.db"));
  if (!store) return state.SkipWithError(store.error().message.c_str());
  run_commits(state, **store);
}
BENCHMARK(sqlite_commit)->Arg(1)->Arg(16)->Arg(100)->Arg(1'000)->UseRealTime();

void memory_commit(benchmark::State& state) {
  MemoryDisk disk;
  MemoryStore store(disk);
  run_commits(state, store);
}
BENCHMARK(memory_commit)->Arg(1)->Arg(100);

// What a restart costs: the check for damage, and reading everything.
void sqlite_load(benchmark::State& state) {
  const TemporaryDirectory directory;
  base::Random random(1);
  {
    const auto store = SqliteStore::open(directory.file("records.db"));
    const auto epoch = (*store)->campaign("bench", at_once);
    for (int64_t done = 0; done < state.range(0); done += 1'000) {
      Batch batch;
      for (int64_t i = done; i < done + 1'000; ++i) {
        batch.puts.push_back({"task/default/" + random.hex(32), random.hex(value_size)});
      }
      (*store)->commit(*epoch, batch);
    }
  }
  for (auto _ : state) {
    const auto store = SqliteStore::open(directory.file("records.db"));
    const auto records = (*store)->load();
    if (!records || std::cmp_not_equal(records->size(), state.range(0))) {
      state.SkipWithError("the load failed");
      break;
    }
  }
}
BENCHMARK(sqlite_load)->Arg(100'000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace store
