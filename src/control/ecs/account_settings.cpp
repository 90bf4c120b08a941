#include "control/ecs/account_settings.h"

#include <algorithm>
#include <vector>

#include "api/shape.h"
#include "base/format.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"

namespace control::ecs {
namespace {

using api::ecs::SettingName;

// In the words by which Terraform's provider knows that it has nothing to undo.
constexpr std::string_view long_arns = "You can no longer disable Long Arn settings";

// What a setting may be, the first one where nobody has put it; without any it means nothing here.
struct Rule {
  SettingName name;
  std::vector<std::string_view> values;
  std::string_view why;  // There are no others.
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {SettingName::ContainerInsights,
       {"disabled", "enabled", "enhanced"},
       "clusters that are made later take it over"},
      {SettingName::AwsvpcTrunking,
       {"disabled", "enabled"},
       "either way, network interfaces do not limit how many awsvpc tasks an instance takes"},
      {SettingName::ContainerInstanceLongArnFormat, {"enabled"}, long_arns},
      {SettingName::ServiceLongArnFormat, {"enabled"}, long_arns},
      {SettingName::TaskLongArnFormat, {"enabled"}, long_arns},
      {SettingName::TagResourceAuthorization,
       {"off"},
       "Berth has no IAM policies that could authorize tags"},
      {SettingName::GuardDutyActivate, {"off"}, "Berth has no GuardDuty"},
      {SettingName::FargateFipsMode, {"disabled"}, "Berth has no Fargate"},
      {SettingName::FargateEventWindows, {}, "Berth has no Fargate"},
      {SettingName::FargateTaskRetirementWaitPeriod, {}, "Berth has no Fargate"},
      {SettingName::DefaultLogDriverMode,
       {},
       "give the option \"mode\" in the logConfiguration of a container"},
  };
  return all;
}

const Rule& rule_of(SettingName name) {
  const auto found = std::ranges::find(rules(), name, &Rule::name);
  CHECK(found != rules().end());
  return *found;
}

// "disabled or enabled"
std::string values_of(const Rule& rule) {
  std::string text;
  for (const std::string_view value : rule.values) {
    text += text.empty() ? "" : " or ";
    text += value;
  }
  return text;
}

// Errors: InvalidParameterException saying what it can be, and why.
base::Result<void> check_value(const Rule& rule, std::string_view value) {
  const std::string_view name = api::to_string(rule.name);
  if (rule.values.empty()) {
    return invalid_parameter(
        base::format("The account setting {} is not offered by Berth: {}.", name, rule.why));
  }
  if (std::ranges::find(rule.values, value) != rule.values.end()) return {};
  return invalid_parameter(base::format("The account setting {} is \"{}\"; it can be {}: {}.", name,
                                        value, values_of(rule), rule.why));
}

}  // namespace

std::map<std::string, SettingName, std::less<>> setting_names() {
  std::map<std::string, SettingName, std::less<>> names;
  for (const Rule& rule : rules()) names.emplace(api::to_string(rule.name), rule.name);
  return names;
}

std::string effective_setting(const model::ClusterState& state, SettingName name) {
  const auto put = state.account_settings.find(api::to_string(name));
  if (put != state.account_settings.end()) return put->second;
  const Rule& rule = rule_of(name);
  return rule.values.empty() ? std::string() : std::string(rule.values.front());
}

base::Result<void> check_principal(const Step& step, const std::optional<std::string>& principal) {
  if (!principal || principal->empty() ||
      *principal == model::root_user_arn(step.settings.account)) {
    return {};
  }
  return invalid_parameter(
      base::format("The principal {} is not known: settings are those of the account's root user, "
                   "{}. Leave principalArn out.",
                   *principal, model::root_user_arn(step.settings.account)));
}

api::ecs::Setting describe_setting(const Step& step, SettingName name, std::string value) {
  api::ecs::Setting made;
  made.name = name;
  made.value = std::move(value);
  made.principal_arn = model::root_user_arn(step.settings.account);
  made.type = name == SettingName::GuardDutyActivate ? api::ecs::SettingType::AwsManaged
                                                     : api::ecs::SettingType::User;
  return made;
}

base::Result<api::ecs::Setting> put_setting(Step& step, SettingName name,
                                            const std::string& value) {
  TRY_VOID(check_value(rule_of(name), value));
  step.change(model::AccountSettingPut{std::string(api::to_string(name)), value});
  return describe_setting(step, name, value);
}

}  // namespace control::ecs
