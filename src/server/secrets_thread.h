// The one thread that owns the secret store.
#pragma once

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
#include "secrets/service.h"

namespace server {

struct SecretsWork {
  const api::Service* service = nullptr;
  const api::Operation* operation = nullptr;
  api::Any input;
  std::optional<std::vector<std::string>> reach;  // As in secrets::Call.
  // Called once, on the secrets thread.
  std::move_only_function<void(base::Result<api::Any>)> answered;
};

class SecretsThread {
 public:
  // `clock` outlives it.
  SecretsThread(std::unique_ptr<secrets::Service> service, base::Clock& clock);
  ~SecretsThread();  // Does stop().
  SecretsThread(const SecretsThread&) = delete;
  SecretsThread& operator=(const SecretsThread&) = delete;

  // False when too much is waiting already; `work` is untouched then. Any thread.
  bool try_push(SecretsWork&& work) { return queue_.try_push(std::move(work)); }
  // Finishes what was pushed before and joins the thread.
  void stop();

 private:
  void run();
  void sweep_when_due();

  static constexpr size_t capacity = 2'000;
  static constexpr size_t most_per_batch = 100;

  std::unique_ptr<secrets::Service> service_;
  base::Clock& clock_;
  base::Queue<SecretsWork> queue_{capacity};
  base::Time next_sweep_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace server
