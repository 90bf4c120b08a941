// Files of environment variables, of the machine or of an S3 object store.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "agent/core/runtime.h"
#include "auth/signer.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"

namespace agent {

using Variables = std::map<std::string, std::string>;

// A line is NAME=value; spaces and quotation marks belong to the value. Empty lines, lines that
// begin with #, and lines without a name or a value say nothing.
// Source: ECS Developer Guide, "Pass an individual environment variable to a container".
Variables parse_environment_file(std::string_view text);

struct ObjectLocation {
  std::string bucket;
  std::string key;
  friend bool operator==(const ObjectLocation&, const ObjectLocation&) = default;
};
// Of "arn:aws:s3:::bucket/key" and "s3://bucket/key".
// Errors: "InvalidParameterException".
base::Result<ObjectLocation> parse_object_location(std::string_view text);

// Where objects are, and who asks for them. An empty endpoint: Amazon S3 in that region.
struct ObjectStore {
  std::string endpoint;
  std::string region;
  auth::Credentials credentials;
};

// What an answer of S3 that is no object means. Errors: that one; see fetch_object.
base::Error error_of_s3(const ObjectLocation& location, const net::HttpResponse& response);

// GET of the object, signed, the bucket in the path. Blocks. Errors: S3's own code, with a message
// that names the object; those of net::HttpClient.
base::Result<std::string> fetch_object(const ObjectStore& store, const ObjectLocation& location,
                                       base::Time now);

// The variables of "file:///path" or of an object. Blocks. Errors: as above, "IoError".
base::Result<Variables> read_environment_file(const std::string& location, const ObjectStore& store,
                                              base::Time now);

}  // namespace agent
