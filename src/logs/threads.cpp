#include "logs/threads.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/log.h"

namespace logs {
namespace {

constexpr size_t reader_count = 2;
constexpr base::Milliseconds longest_wait{1'000};             // For work; then for what became due.
constexpr base::Milliseconds scrub_interval{24 * 3'600'000};  // Between two rounds.
constexpr base::Milliseconds after_failure{600'000};
constexpr base::Milliseconds sweep_interval{5'000};  // A container may fill a disk in minutes.

base::Error closed_for(const base::Error& damage) {
  return {.code = "ServiceUnavailableException",
          .message = base::format("The log service is closed, since its file is damaged; tasks and "
                                  "everything else go on. {}",
                                  damage.message)};
}

}  // namespace

base::Result<Store> open_store(const std::string& path, const std::string& region,
                               const std::string& account, const Limits& limits) {
  Store store;
  const auto open = [&]() -> base::Result<void> {
    store.writer = TRY(Service::open(path, region, account, limits));
    for (size_t i = 0; i < reader_count; ++i) {
      store.readers.push_back(TRY(Service::open_reader(path, region, account)));
    }
    return {};
  };
  const auto opened = open();
  if (opened) return store;
  if (!is_damage(opened.error())) return base::fail(opened.error());
  return Store{.closed = opened.error()};
}

Threads::Threads(Store store, base::Clock& clock)
    : store_(std::move(store)), clock_(clock), next_sweep_(clock.now()) {
  if (store_.closed) close(*store_.closed);
  threads_.emplace_back([this] { write(); });
  for (const auto& reader : store_.readers) {
    threads_.emplace_back([this, &reader] { read(reader.get()); });
  }
  // Somebody has to answer that it is closed.
  if (store_.readers.empty()) threads_.emplace_back([this] { read(nullptr); });
}

Threads::~Threads() {
  stop();
}

bool Threads::try_push(Work&& work) {
  return writes(*work.operation) ? writes_.try_push(std::move(work))
                                 : reads_.try_push(std::move(work));
}

void Threads::stop() {
  writes_.close();
  reads_.close();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Threads::close(const base::Error& damage) {
  const auto reason = std::make_shared<const base::Error>(closed_for(damage));
  std::shared_ptr<const base::Error> none;
  if (closed_.compare_exchange_strong(none, reason)) base::log_error("{}", reason->message);
}

void Threads::answer(std::vector<Work> works, Service* service) {
  if (works.empty()) return;
  const auto closed = closed_.load();
  if (closed) {
    for (Work& work : works) work.answered(base::fail(*closed));
    return;
  }
  std::vector<Call> calls;
  calls.reserve(works.size());
  for (const Work& work : works) calls.push_back({work.operation, &work.input, work.writer});
  auto answers = service->handle_batch(calls, clock_.now());
  if (service->damage()) close(*service->damage());
  for (size_t i = 0; i < works.size(); ++i) works[i].answered(std::move(answers[i]));
}

void Threads::sweep_when_due() {
  const base::Time now = clock_.now();
  if (now < next_sweep_) return;
  next_sweep_ = now + sweep_interval;
  if (closed_.load()) return;
  const auto more = store_.writer->sweep(now);
  if (!more) {
    base::log_error("log events that expired could not be removed: {}", more.error().message);
    next_sweep_ = now + after_failure;
  }
  if (store_.writer->damage()) close(*store_.writer->damage());
  if (more && *more) next_sweep_ = now;
}

void Threads::write() {
  while (true) {
    const base::Milliseconds until_sweep = next_sweep_ - clock_.now();
    auto works = writes_.pop_batch(most_per_batch,
                                   std::clamp(until_sweep, base::Milliseconds{0}, longest_wait));
    if (works.empty() && writes_.closed()) return;
    answer(std::move(works), store_.writer.get());
    sweep_when_due();
  }
}

// One call at a time: the other readers take those behind it.
void Threads::read(Service* reader) {
  const bool scrubs = reader != nullptr && reader == store_.readers.front().get();
  base::Milliseconds next_scrub = clock_.monotonic();
  while (true) {
    auto works = reads_.pop_batch(1, longest_wait);
    if (works.empty() && reads_.closed()) return;
    const bool idle = works.empty() && !closed_.load();
    answer(std::move(works), reader);
    if (!scrubs || !idle || clock_.monotonic() < next_scrub) continue;
    const auto scrubbed = reader->scrub();
    if (reader->damage()) close(*reader->damage());
    if (!scrubbed || *scrubbed) next_scrub = clock_.monotonic() + scrub_interval;
  }
}

}  // namespace logs
