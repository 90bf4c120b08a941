#include <algorithm>
#include <charconv>

#include "api/base64.h"
#include "base/arn.h"
#include "base/format.h"
#include "base/text.h"
#include "secrets/operations.h"

namespace secrets {
namespace {

constexpr size_t most_parameter_versions =
    100;  // Source: Systems Manager User Guide, "Parameter versions".
constexpr size_t most_path_levels = 15;

std::unexpected<base::Error> validation_error(std::string message) {
  return base::fail("ValidationException", std::move(message));
}

std::unexpected<base::Error> parameter_not_found(std::string_view name) {
  return base::fail("ParameterNotFound", base::format("Parameter {} not found.", name));
}

base::Result<void> check_parameter_name(const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](char c) { return base::is_plain(c, "_.-/"); });
  if (name.empty() || !plain || name.size() > 1011) {
    return validation_error(
        "Parameter name must be a fully qualified name: letters, digits and the characters _.-/, "
        "at "
        "most 1011 of them.");
  }
  const size_t first = name.front() == '/' ? 1 : 0;
  const std::string_view start = std::string_view(name).substr(first);
  if (start.starts_with("aws") || start.starts_with("ssm") || start.starts_with("AWS") ||
      start.starts_with("SSM")) {
    return validation_error(
        "No access to reserved parameter name: a name must not begin with aws or ssm.");
  }
  if (std::cmp_greater(std::ranges::count(name, '/'), most_path_levels)) {
    return base::fail("HierarchyLevelLimitExceededException",
                      "A parameter's name has at most 15 levels.");
  }
  return {};
}

struct Selection {
  std::string name;
  std::string selector;  // ":3"; empty: the newest.
};

// "name", "name:3" or an ARN with or without a version.
Selection selection_of(std::string_view text) {
  std::string name(text);
  if (text.starts_with("arn:")) {
    const size_t mark = text.find(":parameter/");
    if (mark == std::string_view::npos) return {name, {}};
    name = text.substr(mark + std::string_view(":parameter/").size());
  }
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return {name, {}};
  return {name.substr(0, colon), name.substr(colon)};
}

// The ARN of "/a/b" and of "a/b" is the same, so what an ARN says may be either.
base::Result<std::optional<Item>> find_parameter(Context& context, const std::string& name) {
  auto found = TRY(context.vault.find(Kind::Parameter, name));
  if (found || name.starts_with('/')) return found;
  return context.vault.find(Kind::Parameter, "/" + name);
}

bool may_read_parameter(const Context& context, const Item& item) {
  if (!context.reach) return true;
  return std::ranges::any_of(*context.reach, [&](const std::string& allowed) {
    const std::string name = parameter_name(allowed);
    return name == item.name || "/" + name == item.name;
  });
}

std::unexpected<base::Error> denied(std::string_view name) {
  return base::fail("AccessDeniedException",
                    base::format("The task's role may not read the parameter {}: its task's "
                                 "definition does not name it.",
                                 name));
}

base::Result<const Version*> version_of(const Item& item, const std::string& selector) {
  if (selector.empty()) return &item.versions.back();
  int64_t number = 0;
  std::from_chars(selector.data() + 1, selector.data() + selector.size(), number);
  const auto found = std::ranges::find(item.versions, number, &Version::number);
  if (found == item.versions.end()) {
    return base::fail("ParameterVersionNotFound",
                      base::format("Systems Manager could not find version {} of {}. Verify the "
                                   "version and try again.",
                                   selector.substr(1), item.name));
  }
  return &*found;
}

// Without decryption a SecureString is shown as it is kept.
base::Result<api::ssm::Parameter> show(Context& context, const Item& item, const Version& version,
                                       bool decrypt, const std::string& selector) {
  api::ssm::Parameter shown;
  shown.name = item.name;
  shown.arn = item.arn;
  shown.type = api::parse_enum<api::ssm::ParameterType>(item.type);
  shown.data_type = item.data_type;
  shown.version = version.number;
  shown.last_modified_date = version.created_at;
  if (!selector.empty()) shown.selector = selector;
  const bool sealed = shown.type == api::ssm::ParameterType::SecureString && !decrypt;
  if (sealed) {
    api::append_base64(shown.value.emplace(), version.sealed.bytes);
  } else {
    shown.value = TRY(context.vault.open_value(Kind::Parameter, item, version));
  }
  return shown;
}

base::Result<api::ssm::Parameter> read_parameter(Context& context, const std::string& text,
                                                 bool decrypt) {
  const Selection selection = selection_of(text);
  const auto item = TRY(find_parameter(context, selection.name));
  if (!item) {
    if (context.reach && std::ranges::find(*context.reach, text) == context.reach->end()) {
      return denied(text);
    }
    return parameter_not_found(text);
  }
  if (!may_read_parameter(context, *item)) return denied(text);
  const Version* const version = TRY(version_of(*item, selection.selector));
  auto shown = TRY(show(context, *item, *version, decrypt, selection.selector));
  // Who asked by name looks for that name in the answer.
  if (!text.starts_with("arn:")) shown.name = selection.name;
  return shown;
}

std::string arn_of(const Owner& owner, const std::string& name) {
  return base::format("arn:aws:ssm:{}:{}:parameter{}{}", owner.region, owner.account,
                      name.starts_with('/') ? "" : "/", name);
}

base::Result<void> check_put(const api::ssm::PutParameterRequest& request, bool exists) {
  TRY_VOID(check_parameter_name(request.name.value_or("")));
  if (!request.allowed_pattern.value_or("").empty()) {
    return validation_error(
        "AllowedPattern is not offered by this version of Berth: leave it out.");
  }
  if (!request.policies.value_or("").empty()) {
    return validation_error("Policies are not offered by this version of Berth: leave them out.");
  }
  if (exists && !request.overwrite.value_or(false)) {
    return base::fail("ParameterAlreadyExists",
                      "The parameter already exists. To overwrite this value, set the overwrite "
                      "option in the request to true.");
  }
  if (exists && !request.tags.empty()) {
    return validation_error(
        "Tags and overwrite cannot be used together: a parameter that exists keeps its "
        "tags.");
  }
  if (!exists && !request.type) {
    return validation_error("A parameter type is required when you create a parameter.");
  }
  return {};
}

// Of "/a/b/c" under "/a": false without `recursive`.
bool is_below(const std::string& name, const std::string& path, bool recursive) {
  if (!name.starts_with(path)) return false;
  return recursive || name.find('/', path.size()) == std::string::npos;
}

struct MetadataFilter {
  std::string key;
  std::string option;
  std::vector<std::string> values;
};

base::Result<std::vector<MetadataFilter>> filters_of(
    const api::ssm::DescribeParametersRequest& request) {
  std::vector<MetadataFilter> filters;
  for (const auto& filter : request.parameter_filters) {
    filters.push_back({filter.key.value_or(""),
                       filter.option.value_or("Equals"),
                       {filter.values.begin(), filter.values.end()}});
  }
  for (const auto& filter : request.filters) {
    filters.push_back({filter.key ? std::string(api::to_string(*filter.key)) : std::string(),
                       "Equals",
                       {filter.values.begin(), filter.values.end()}});
  }
  for (const MetadataFilter& filter : filters) {
    if (filter.key != "Name" && filter.key != "Type" && filter.key != "KeyId") {
      return base::fail(
          "InvalidFilterKey",
          base::format("The filter key \"{}\" is not offered: use Name, Type or KeyId.",
                       filter.key));
    }
    if (filter.option != "Equals" && filter.option != "BeginsWith" && filter.option != "Contains") {
      return base::fail("InvalidFilterOption",
                        base::format("The filter option \"{}\" is not offered: use Equals, "
                                     "BeginsWith or Contains.",
                                     filter.option));
    }
  }
  return filters;
}

bool passes(const Item& item, const MetadataFilter& filter) {
  const std::string& text = filter.key == "Name"   ? item.name
                            : filter.key == "Type" ? item.type
                                                   : item.key_id;
  return std::ranges::any_of(filter.values, [&](const std::string& value) {
    if (filter.option == "BeginsWith") return text.starts_with(value);
    if (filter.option == "Contains") return text.find(value) != std::string::npos;
    return text == value;
  });
}

}  // namespace

std::string parameter_name(std::string_view text) {
  return selection_of(text).name;
}

Answer<api::ssm::PutParameterResult> put_parameter(Context& context,
                                                   const api::ssm::PutParameterRequest& request) {
  const std::string name = request.name.value_or("");
  auto before = TRY(context.vault.find(Kind::Parameter, name));
  TRY_VOID(check_put(request, before.has_value()));
  Item item;
  if (before) {
    item = std::move(*before);
  } else {
    item.name = name;
    item.arn = arn_of(context.owner, name);
    item.created_at = context.now;
    for (const auto& tag : request.tags) item.tags[tag.key.value_or("")] = tag.value.value_or("");
  }
  if (request.type) item.type = api::to_string(*request.type);
  if (request.description) item.description = *request.description;
  if (request.key_id) item.key_id = *request.key_id;
  item.data_type = request.data_type.value_or(item.data_type.empty() ? "text" : item.data_type);
  item.changed_at = context.now;
  TRY_VOID(context.vault.add_version(Kind::Parameter, item, {}, request.value.value_or(""),
                                     context.now));
  if (item.versions.size() > most_parameter_versions) item.versions.erase(item.versions.begin());
  TRY_VOID(context.vault.put(Kind::Parameter, item));
  api::ssm::PutParameterResult result;
  result.version = item.versions.back().number;
  result.tier = api::ssm::ParameterTier::Standard;
  return result;
}

Answer<api::ssm::GetParameterResult> get_parameter(Context& context,
                                                   const api::ssm::GetParameterRequest& request) {
  api::ssm::GetParameterResult result;
  result.parameter = TRY(
      read_parameter(context, request.name.value_or(""), request.with_decryption.value_or(false)));
  return result;
}

Answer<api::ssm::GetParametersResult> get_parameters(
    Context& context, const api::ssm::GetParametersRequest& request) {
  api::ssm::GetParametersResult result;
  result.parameters.set_present();
  result.invalid_parameters.set_present();
  for (const std::string& name : request.names) {
    auto parameter = read_parameter(context, name, request.with_decryption.value_or(false));
    if (parameter) {
      result.parameters.push_back(std::move(*parameter));
    } else if (parameter.error().code == "ParameterNotFound" ||
               parameter.error().code == "ParameterVersionNotFound") {
      result.invalid_parameters.push_back(name);
    } else {
      return base::fail(std::move(parameter).error());
    }
  }
  return result;
}

Answer<api::ssm::GetParametersByPathResult> get_parameters_by_path(
    Context& context, const api::ssm::GetParametersByPathRequest& request) {
  std::string path = request.path.value_or("");
  if (!path.starts_with('/')) {
    return validation_error("The parameter path must begin with a forward slash: /app/database.");
  }
  if (!request.parameter_filters.empty()) {
    return validation_error(
        "ParameterFilters are not offered with a path by this version of Berth.");
  }
  if (!path.ends_with('/')) path += '/';
  const auto most = static_cast<size_t>(std::clamp(request.max_results.value_or(10), 1, 10));
  api::ssm::GetParametersByPathResult result;
  result.parameters.set_present();
  std::string after = request.next_token.value_or("");
  while (true) {
    const auto items = TRY(context.vault.list(Kind::Parameter, path, after, 100));
    for (const Item& item : items) {
      if (!is_below(item.name, path, request.recursive.value_or(false))) continue;
      if (!may_read_parameter(context, item)) return denied(item.name);
      if (result.parameters.size() == most) {
        result.next_token = after;
        return result;
      }
      result.parameters.push_back(TRY(
          show(context, item, item.versions.back(), request.with_decryption.value_or(false), {})));
      after = item.name;
    }
    if (items.size() < 100) return result;
    after = items.back().name;
  }
}

Answer<api::ssm::DescribeParametersResult> describe_parameters(
    Context& context, const api::ssm::DescribeParametersRequest& request) {
  const auto filters = TRY(filters_of(request));
  const auto most = static_cast<size_t>(std::clamp(request.max_results.value_or(50), 1, 50));
  api::ssm::DescribeParametersResult result;
  result.parameters.set_present();
  std::string after = request.next_token.value_or("");
  while (true) {
    const auto items = TRY(context.vault.list(Kind::Parameter, {}, after, 100));
    for (const Item& item : items) {
      if (!std::ranges::all_of(filters, [&](const auto& one) { return passes(item, one); })) {
        continue;
      }
      if (result.parameters.size() == most) {
        result.next_token = after;
        return result;
      }
      api::ssm::ParameterMetadata& shown = result.parameters.emplace_back();
      shown.name = item.name;
      shown.arn = item.arn;
      shown.type = api::parse_enum<api::ssm::ParameterType>(item.type);
      if (!item.key_id.empty()) shown.key_id = item.key_id;
      if (!item.description.empty()) shown.description = item.description;
      shown.last_modified_date = item.changed_at;
      shown.version = item.versions.back().number;
      shown.tier = api::ssm::ParameterTier::Standard;
      shown.data_type = item.data_type;
      after = item.name;
    }
    if (items.size() < 100) return result;
    after = items.back().name;
  }
}

Answer<api::ssm::DeleteParameterResult> delete_parameter(
    Context& context, const api::ssm::DeleteParameterRequest& request) {
  const std::string name = parameter_name(request.name.value_or(""));
  const auto item = TRY(context.vault.find(Kind::Parameter, name));
  if (!item) return parameter_not_found(name);
  TRY_VOID(context.vault.remove(Kind::Parameter, name));
  return api::ssm::DeleteParameterResult{};
}

Answer<api::ssm::DeleteParametersResult> delete_parameters(
    Context& context, const api::ssm::DeleteParametersRequest& request) {
  api::ssm::DeleteParametersResult result;
  result.deleted_parameters.set_present();
  result.invalid_parameters.set_present();
  for (const std::string& name : request.names) {
    const auto item = TRY(context.vault.find(Kind::Parameter, parameter_name(name)));
    if (item) {
      TRY_VOID(context.vault.remove(Kind::Parameter, item->name));
      result.deleted_parameters.push_back(name);
    } else {
      result.invalid_parameters.push_back(name);
    }
  }
  return result;
}

}  // namespace secrets
