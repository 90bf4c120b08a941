#include "cli/aws_profile.h"

#include <array>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace cli {
namespace {

constexpr std::array settings_of_profile = {
    std::pair{std::string_view("endpoint_url"), &AwsProfile::endpoint_url},
    std::pair{std::string_view("region"), &AwsProfile::region},
    std::pair{std::string_view("ca_bundle"), &AwsProfile::ca_bundle},
    std::pair{std::string_view("aws_access_key_id"), &AwsProfile::access_key_id},
    std::pair{std::string_view("aws_secret_access_key"), &AwsProfile::secret_access_key},
    std::pair{std::string_view("aws_session_token"), &AwsProfile::session_token},
};

// The value of a line "name = value # comment".
std::string_view without_comment(std::string_view value) {
  for (const std::string_view mark : {" #", " ;", "\t#", "\t;"}) {
    value = value.substr(0, value.find(mark));
  }
  return base::trimmed(value);
}

// "[profile  x]" as "profile x".
std::string section_of(std::string_view line) {
  const std::string_view name = base::trimmed(line.substr(1, line.find(']') - 1));
  constexpr std::string_view word = "profile";
  if (!name.starts_with(word) || name.size() == word.size()) return std::string(name);
  const std::string_view rest = name.substr(word.size());
  const std::string_view plain = base::trimmed(rest);
  return plain.size() == rest.size() ? std::string(name) : base::format("profile {}", plain);
}

void take_section(std::string_view text, std::string_view section, AwsProfile& profile) {
  bool inside = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('[')) {
      inside = section_of(line) == section;
      profile.found = profile.found || inside;
      continue;
    }
    // What is indented belongs to the setting above it.
    if (!inside || line.starts_with('#') || line.starts_with(';') || line.starts_with(' ') ||
        line.starts_with('\t')) {
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = base::trimmed(line.substr(0, equals));
    for (const auto& [setting, member] : settings_of_profile) {
      if (name == setting) profile.*member = without_comment(line.substr(equals + 1));
    }
  }
}

}  // namespace

AwsProfile parse_aws_profile(std::string_view name, std::string_view config,
                             std::string_view credentials) {
  AwsProfile profile;
  if (name == "default") take_section(config, name, profile);
  take_section(config, base::format("profile {}", name), profile);
  take_section(credentials, name, profile);
  return profile;
}

}  // namespace cli
