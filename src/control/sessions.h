// Which agents are connected, and what each of them has to be told. All of it is made anew after a
// restart: agents come back, and what they have to be told follows from the state.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "acs/server_session.h"
#include "base/random.h"
#include "base/time.h"
#include "control/input.h"
#include "control/role_credentials.h"
#include "control/step.h"

namespace control {

class Sessions {
 public:
  // Instances that were connected get Settings::connect_grace to come back.
  Sessions(const model::ClusterState& state, const Settings& settings, base::Time now);

  void open(Step& step, Output& output, const SessionOpened& opened);
  void receive(Step& step, Output& output, const SessionMessage& message);
  void close(Step& step, const SessionClosed& closed);
  // Heartbeats, redeliveries, keys of roles that expire, dead connections, agents whose grace is
  // over.
  void tick(Step& step, Output& output);
  base::Time next_tick() const;

  // Tells the agents what the changes of `output` from `first` on mean for them.
  void announce(Step& step, Output& output, size_t first);

 private:
  struct Session {
    model::InstanceArn instance;
    acs::ServerSession acs;
    base::Time due;
    std::string access_key_id;
  };

  void send(SessionId id, Output& output, acs::ServerMessage message, base::Time now);
  void reschedule(SessionId id, Session& session);
  void deliver(Step& step, Output& output, const model::TaskArn& arn);
  // The newest session of the instance; 0: none.
  SessionId newest_of(const model::InstanceArn& arn) const;
  void send_role_keys(Step& step, Output& output, const model::ContainerInstance& instance,
                      const SessionOpened& opened);
  void send_role_key(Step& step, Output& output, const RoleSchedule::Key& key);
  void note_role_keys(const Step& step, const acs::Task& payload);
  void close_silent(Step& step, Output& output);
  void tell_missing(Step& step);
  void settle(const model::ClusterState& state, const model::TaskArn& arn);
  void drop(SessionId id, const Step& step, std::string reason);
  void expect_by(const model::InstanceArn& arn, base::Time deadline, std::string reason);
  void forget_expected(const model::InstanceArn& arn);
  void close_all(const model::InstanceArn& arn, const Step& step, Output& output);
  void close_those_of_key(const std::string& access_key_id, const Step& step, Output& output);
  void reserve_sequence_numbers(Step& step);

  acs::ServerSettings acs_settings_;
  acs::Timeline timeline_;
  RoleSchedule roles_;
  std::map<SessionId, Session> sessions_;
  // An agent opens a new session before the old one has closed: the newest gets the payloads.
  std::map<model::InstanceArn, std::set<SessionId>> of_instance_;
  std::set<std::pair<base::Time, SessionId>> due_;
  // Instances without a session that still count as connected, until then.
  struct Expected {
    base::Time deadline;
    std::string reason;  // Why they are not connected once the deadline has passed.
  };
  std::map<model::InstanceArn, Expected> expected_;
  std::set<std::pair<base::Time, model::InstanceArn>> expected_by_;
};

}  // namespace control
