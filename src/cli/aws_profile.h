// A profile of the AWS CLI and the SDKs: which server they speak with, and as whom.
// Source: AWS SDKs and Tools Reference Guide, "Shared config and credentials files".
#pragma once

#include <string>
#include <string_view>

namespace cli {

// Empty where the files do not say.
struct AwsProfile {
  bool found = false;  // One of the files has it.
  std::string endpoint_url;
  std::string region;
  std::string ca_bundle;
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token;
};

// Of the texts of ~/.aws/config, which calls it "[profile NAME]", and of ~/.aws/credentials, which
// calls it "[NAME]" and counts first. An endpoint of one service alone (`services`) is not looked
// at.
AwsProfile parse_aws_profile(std::string_view name, std::string_view config,
                             std::string_view credentials);

}  // namespace cli
