// One function for each operation of the two services.
#pragma once

#include "api/generated/secretsmanager.h"
#include "api/generated/ssm.h"
#include "secrets/service.h"

namespace secrets {

// What an operation works on.
struct Context {
  Vault& vault;
  const Owner& owner;
  const std::optional<std::vector<std::string>>& reach;
  base::Time now;
};

template <class T>
using Answer = base::Result<T>;

// parameters.cpp
Answer<api::ssm::PutParameterResult> put_parameter(Context&, const api::ssm::PutParameterRequest&);
Answer<api::ssm::GetParameterResult> get_parameter(Context&, const api::ssm::GetParameterRequest&);
Answer<api::ssm::GetParametersResult> get_parameters(Context&,
                                                     const api::ssm::GetParametersRequest&);
Answer<api::ssm::GetParametersByPathResult> get_parameters_by_path(
    Context&, const api::ssm::GetParametersByPathRequest&);
Answer<api::ssm::DescribeParametersResult> describe_parameters(
    Context&, const api::ssm::DescribeParametersRequest&);
Answer<api::ssm::DeleteParameterResult> delete_parameter(Context&,
                                                         const api::ssm::DeleteParameterRequest&);
Answer<api::ssm::DeleteParametersResult> delete_parameters(
    Context&, const api::ssm::DeleteParametersRequest&);

// secrets_manager.cpp
Answer<api::secretsmanager::CreateSecretResponse> create_secret(
    Context&, const api::secretsmanager::CreateSecretRequest&);
Answer<api::secretsmanager::PutSecretValueResponse> put_secret_value(
    Context&, const api::secretsmanager::PutSecretValueRequest&);
Answer<api::secretsmanager::UpdateSecretResponse> update_secret(
    Context&, const api::secretsmanager::UpdateSecretRequest&);
Answer<api::secretsmanager::GetSecretValueResponse> get_secret_value(
    Context&, const api::secretsmanager::GetSecretValueRequest&);
Answer<api::secretsmanager::DescribeSecretResponse> describe_secret(
    Context&, const api::secretsmanager::DescribeSecretRequest&);
Answer<api::secretsmanager::ListSecretsResponse> list_secrets(
    Context&, const api::secretsmanager::ListSecretsRequest&);
Answer<api::secretsmanager::DeleteSecretResponse> delete_secret(
    Context&, const api::secretsmanager::DeleteSecretRequest&);
Answer<api::secretsmanager::RestoreSecretResponse> restore_secret(
    Context&, const api::secretsmanager::RestoreSecretRequest&);

// The name that a parameter's name or ARN, without a version, stands for.
std::string parameter_name(std::string_view text);

}  // namespace secrets
