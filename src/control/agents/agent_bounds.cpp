#include "control/agents/agent_bounds.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"
#include "control/request/errors.h"

namespace control {
namespace {

// Bytes. Names, ids, versions, ARNs, digests; what there are many of; the cores beside a GPU; an
// identity document with its signature; a reason, of which less is kept.
constexpr size_t most_name = 256;
constexpr size_t most_name_of_many = 128;
constexpr size_t most_cpu_list = 1'024;
constexpr size_t most_document = size_t{16} << 10;
constexpr size_t most_reason_sent = size_t{64} << 10;

constexpr size_t most_resources = 16;
// Source: ECS API reference, ContainerInstance: "up to 100 reserved ports per container instance".
// TCP and UDP are counted apart.
constexpr size_t most_ports = 100;
constexpr size_t most_links_of_gpu = 32;
constexpr size_t most_containers = 1'000;
constexpr size_t most_bindings = 1'000;
constexpr size_t most_attachments = 100;

base::Result<void> check_text(const std::optional<std::string>& text, std::string_view member,
                              size_t most = most_name) {
  if (!text || text->size() <= most) return {};
  return invalid_parameter(
      base::format("{} has {} bytes; it may have at most {}.", member, text->size(), most));
}

template <class List>
base::Result<void> check_count(const List& list, std::string_view member, size_t most,
                               std::string_view fix = {}) {
  if (list.size() <= most) return {};
  return invalid_parameter(
      base::format("{} has {} entries; it may have at most {}.{}", member, list.size(), most, fix));
}

template <class List>
base::Result<void> check_texts(const List& list, std::string_view member) {
  for (const std::string& text : list) TRY_VOID(check_text(text, member, most_name_of_many));
  return {};
}

base::Result<void> check_gpu(const api::ecs::BerthGpu& gpu) {
  for (const auto* const text :
       {&gpu.uuid, &gpu.model, &gpu.architecture, &gpu.pci_bus_id, &gpu.pcie_switch,
        &gpu.mig_profile, &gpu.mig_parent, &gpu.health_reason}) {
    TRY_VOID(check_text(*text, "platformDevices: a text of a GPU"));
  }
  TRY_VOID(check_text(gpu.cpu_list, "platformDevices: cpuList", most_cpu_list));
  TRY_VOID(check_count(gpu.nv_links, "platformDevices: nvLinks", most_links_of_gpu));
  for (const api::ecs::BerthNvLink& link : gpu.nv_links) {
    TRY_VOID(check_text(link.peer, "platformDevices: the peer of an nvLink", most_name_of_many));
  }
  TRY_VOID(check_count(gpu.nics, "platformDevices: nics", most_links_of_gpu));
  return check_texts(gpu.nics, "platformDevices: nics");
}

base::Result<void> check_devices(const api::ecs::RegisterContainerInstanceRequest& request,
                                 size_t most_gpus) {
  TRY_VOID(check_count(request.platform_devices, "platformDevices", most_gpus,
                       " Start the control plane with a higher --gpus-per-instance if there are "
                       "machines with more."));
  for (const api::ecs::PlatformDevice& device : request.platform_devices) {
    TRY_VOID(check_text(device.id, "platformDevices: id"));
    if (device.berth_gpu) TRY_VOID(check_gpu(*device.berth_gpu));
  }
  return {};
}

base::Result<void> check_resources(const api::ecs::RegisterContainerInstanceRequest& request) {
  TRY_VOID(check_count(request.total_resources, "totalResources", most_resources));
  for (const api::ecs::Resource& resource : request.total_resources) {
    TRY_VOID(check_text(resource.name, "totalResources: name"));
    TRY_VOID(check_count(resource.string_set_value, "totalResources: stringSetValue", most_ports));
    TRY_VOID(check_texts(resource.string_set_value, "totalResources: stringSetValue"));
  }
  return {};
}

template <class Bindings>
base::Result<void> check_bindings(const Bindings& bindings) {
  TRY_VOID(check_count(bindings, "networkBindings", most_bindings));
  for (const api::ecs::NetworkBinding& binding : bindings) {
    TRY_VOID(check_text(binding.bind_ip, "networkBindings: bindIP"));
    TRY_VOID(check_text(binding.container_port_range, "networkBindings: containerPortRange"));
    TRY_VOID(check_text(binding.host_port_range, "networkBindings: hostPortRange"));
  }
  return {};
}

// What a report of a task and one of a container both say of a container.
template <class Report>
base::Result<void> check_container(const Report& report) {
  TRY_VOID(check_text(report.container_name, "containerName"));
  TRY_VOID(check_text(report.runtime_id, "runtimeId"));
  TRY_VOID(check_text(report.status, "status"));
  TRY_VOID(check_text(report.reason, "reason", most_reason_sent));
  return check_bindings(report.network_bindings);
}

template <class Attachments>
base::Result<void> check_attachments(const Attachments& attachments) {
  TRY_VOID(check_count(attachments, "attachments", most_attachments));
  for (const api::ecs::AttachmentStateChange& attachment : attachments) {
    TRY_VOID(check_text(attachment.attachment_arn, "attachments: attachmentArn"));
    TRY_VOID(check_text(attachment.status, "attachments: status"));
  }
  return {};
}

}  // namespace

base::Result<void> check_bounds(const api::ecs::RegisterContainerInstanceRequest& request,
                                size_t most_gpus) {
  TRY_VOID(check_text(request.container_instance_arn, "containerInstanceArn"));
  TRY_VOID(
      check_text(request.instance_identity_document, "instanceIdentityDocument", most_document));
  TRY_VOID(check_text(request.instance_identity_document_signature,
                      "instanceIdentityDocumentSignature", most_document));
  if (request.version_info) {
    TRY_VOID(check_text(request.version_info->agent_version, "versionInfo: agentVersion"));
    TRY_VOID(check_text(request.version_info->agent_hash, "versionInfo: agentHash"));
    TRY_VOID(check_text(request.version_info->docker_version, "versionInfo: dockerVersion"));
  }
  TRY_VOID(check_text(request.berth_gpu_driver_version, "berthGpuDriverVersion"));
  TRY_VOID(check_text(request.berth_emulated_instance_type, "berthEmulatedInstanceType"));
  TRY_VOID(check_text(request.berth_status_reason, "berthStatusReason", most_reason_sent));
  TRY_VOID(check_count(request.attributes, "attributes", most_instance_attributes));
  for (const api::ecs::Attribute& attribute : request.attributes) {
    TRY_VOID(check_text(attribute.name, "attributes: name"));
    TRY_VOID(check_text(attribute.value, "attributes: value"));
  }
  TRY_VOID(check_resources(request));
  return check_devices(request, most_gpus);
}

base::Result<void> check_bounds(const api::ecs::SubmitTaskStateChangeRequest& report,
                                size_t most_gpus) {
  TRY_VOID(check_text(report.task, "task"));
  TRY_VOID(check_text(report.status, "status"));
  TRY_VOID(check_text(report.reason, "reason", most_reason_sent));
  TRY_VOID(check_count(report.containers, "containers", most_containers));
  for (const api::ecs::ContainerStateChange& container : report.containers) {
    TRY_VOID(check_container(container));
    TRY_VOID(check_text(container.image_digest, "imageDigest"));
  }
  TRY_VOID(check_count(report.managed_agents, "managedAgents", most_containers));
  TRY_VOID(check_count(report.gpu_release, "gpuRelease", most_gpus));
  for (const api::ecs::BerthGpuRelease& release : report.gpu_release) {
    TRY_VOID(check_text(release.gpu_id, "gpuRelease: gpuId"));
    TRY_VOID(check_text(release.reason, "gpuRelease: reason", most_reason_sent));
  }
  return check_attachments(report.attachments);
}

base::Result<void> check_bounds(const api::ecs::SubmitContainerStateChangeRequest& report) {
  TRY_VOID(check_text(report.task, "task"));
  return check_container(report);
}

base::Result<void> check_bounds(const api::ecs::SubmitAttachmentStateChangesRequest& report) {
  return check_attachments(report.attachments);
}

}  // namespace control
