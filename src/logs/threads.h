// The log store's threads: one writes, and some read on connections of their own, so that whoever
// delivers output never waits for those who search in it.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/any.h"
#include "api/service.h"
#include "base/queue.h"
#include "base/result.h"
#include "base/time.h"
#include "logs/service.h"

namespace logs {

struct Work {
  const api::Operation* operation = nullptr;
  api::Any input;
  Writer writer;
  // Called once, on one of its threads.
  std::move_only_function<void(base::Result<api::Any>)> answered;
};

// A log store whose file is damaged is closed: each call is answered with the reason.
struct Store {
  std::unique_ptr<Service> writer = {};
  std::vector<std::unique_ptr<Service>> readers = {};
  std::optional<base::Error> closed = {};
};

// Errors: those of Service::open() other than damage.
base::Result<Store> open_store(const std::string& path, const std::string& region,
                               const std::string& account, const Limits& limits);

class Threads {
 public:
  // `clock` outlives it.
  Threads(Store store, base::Clock& clock);
  ~Threads();  // Does stop().
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // False when too much is waiting already; `work` is untouched then. A read sees what was answered
  // before it was pushed. Any thread.
  bool try_push(Work&& work);
  // Finishes what was pushed before and joins the threads.
  void stop();

 private:
  void write();
  void read(Service* reader);
  void answer(std::vector<Work> works, Service* service);
  void close(const base::Error& damage);
  void sweep_when_due();

  static constexpr size_t capacity = 2'000;  // A request may have 6 MiB.
  static constexpr size_t most_per_batch = 200;

  Store store_;
  base::Clock& clock_;
  base::Queue<Work> writes_{capacity};
  base::Queue<Work> reads_{capacity};
  // Why it is closed; null while it is not. Shared by the threads, never altered.
  std::atomic<std::shared_ptr<const base::Error>> closed_;
  base::Time next_sweep_;
  std::vector<std::thread> threads_;  // Last: they use all of the above.
};

}  // namespace logs
