// What was acknowledged about a service is never forgotten: that it is there, how many tasks it
// shall have, that it was deleted.

#include <map>

#include "sim/checkers/checkers.h"
#include "sim/checkers/open_calls.h"
#include "sim/world.h"

namespace sim {
namespace {

struct ServicePromise {
  bool deleted = false;
  int32_t desired = 0;
};

class ServicesKept final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "services_kept"; }

  void called(const SeenCall& call) override { open_.called(call.id, call.service); }
  void turned(const Turn& turn) override {
    for (const control::Reply& reply : turn.released.replies) {
      open_.answered(reply.id);
      const auto call = turn.calls.find(reply.id);
      if (call == turn.calls.end() || call->second.service.empty()) continue;
      // Whether a call that got no answer took effect is open until the next one that did.
      if (reply.result || reply.result.error().code == "ServerException") {
        promises_.erase(call->second.service);
      }
      if (reply.result) note(call->second.service, *reply.result);
    }
    check(turn.state);
  }
  void loaded(const model::ClusterState& state) override {
    open_.release(promises_);
    check(state);
  }
  void server_disk_lost() override { promises_.clear(); }

 private:
  void note(const std::string& name, const api::Any& answer) {
    if (const auto* made = answer.get_if<api::ecs::CreateServiceResponse>()) {
      promises_[name].desired = made->service->desired_count.value_or(0);
    } else if (const auto* updated = answer.get_if<api::ecs::UpdateServiceResponse>()) {
      promises_[name].desired = updated->service->desired_count.value_or(0);
    } else if (answer.get_if<api::ecs::DeleteServiceResponse>() != nullptr) {
      promises_[name].deleted = true;
    }
  }

  void check(const model::ClusterState& state) {
    for (const auto& [name, promise] : promises_) {
      const model::Service* const service =
          model::find_service(state, model::service_arn(world().server().settings().account,
                                                        model::ClusterName("default"), name));
      const bool active = service != nullptr && service->status == model::ServiceStatus::Active;
      if (promise.deleted) {
        if (active) {
          fail(base::format("that {} was deleted was acknowledged and is forgotten", name));
        }
        continue;
      }
      if (!active) {
        fail(base::format("{} was acknowledged and is {}", name,
                          service == nullptr ? "forgotten" : "not ACTIVE"));
      } else if (service->scheduling == api::ecs::SchedulingStrategy::Replica &&
                 service->desired_count != promise.desired) {
        fail(base::format("{} was told to have {} task(s), which was acknowledged, and wants {}",
                          name, promise.desired, service->desired_count));
      }
    }
  }

  std::map<std::string, ServicePromise> promises_;  // By the service's name.
  OpenCalls open_;
};

}  // namespace

std::unique_ptr<Checker> make_services_kept(World& world) {
  return std::make_unique<ServicesKept>(world);
}

}  // namespace sim
