// The secret store of the server: the real one, whose disk outlives the server's process. And what
// was in it when, by what its clients have asked for and nothing else.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/any.h"
#include "base/result.h"
#include "base/time.h"
#include "control/step/settings.h"
#include "model/state.h"
#include "secrets/service.h"
#include "sim/environment.h"
#include "sim/network.h"

namespace sim {

class SecretStore {
 public:
  explicit SecretStore(Environment& environment);

  static bool serves(const api::Service& service);

  // A call as the server's front hands it over: who signs with the key of a task's role reads what
  // that task's definition names, for as long as the key is good and the task has not stopped.
  // `now` is the server's. Errors: the store's; those of a key that is not good.
  base::Result<api::Any> answer(const NamedOperation& call, const api::Any& input,
                                const control::Settings& settings, const model::ClusterState& state,
                                base::Time now);
  // All that was in it is gone.
  void lose_disk();

  // Whether the secret had, at some moment from `from` to `to` in true time, a value of which that
  // holds; nullopt stands for none.
  bool was_ever(const std::string& secret, base::Time from, base::Time to,
                const std::function<bool(const std::optional<std::string>&)>& holds) const;

 private:
  struct Entry {
    base::Time from;
    std::optional<std::string> value;
  };

  void open();
  void note(const api::Any& input);
  void put(const std::string& secret, const std::optional<std::string>& token,
           const std::string& value);
  void remove(const std::string& secret);

  Environment& environment_;
  std::unique_ptr<secrets::Service> service_;
  std::map<std::string, std::vector<Entry>> history_;    // By name, the oldest first.
  std::map<std::string, std::set<std::string>> tokens_;  // By name: calls that took effect.
};

}  // namespace sim
