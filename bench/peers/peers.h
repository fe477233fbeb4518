// The peers that --vs names.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/peers/contestant.h"
#include "runtime/plan/executable_plan.h"

namespace tmm::bench {

struct PeerOptions {
    // The directory of libcublas and libcublasLt; they are searched for where it is empty.
    std::filesystem::path cublas_directory;
    // Device memory that cuBLAS and cuBLASLt may use.
    std::int64_t workspace_bytes = 64LL << 20;
    // Most heuristics that cuBLASLt is asked for; as many again where rows are aligned to less than their pointers are.
    int heuristics = 48;
};

// "cublas", "cublaslt", "cpu", "naive", or a config of tmm's own such as "tiled 16x16x16". Throws Error: usage for another name, no_device
// where its library or a GPU is missing. The device's context must be current in the calling thread, and in the one that uses the peer.
std::unique_ptr<Peer> make_peer(const std::string& name, std::shared_ptr<Device> device, const PeerOptions& options);

// The default of --vs: cublas and cublaslt on a GPU, cpu and naive on the emulated device.
std::vector<std::string> default_peers(const DeviceInfo& device);

// make_peer() calls these functions; each has a file of its own.
std::unique_ptr<Peer> make_cublas_peer(std::shared_ptr<Device> device, const PeerOptions& options);
std::unique_ptr<Peer> make_cublaslt_peer(std::shared_ptr<Device> device, const PeerOptions& options);
std::unique_ptr<Peer> make_naive_peer(std::shared_ptr<Device> device);
std::unique_ptr<Peer> make_config_peer(std::shared_ptr<Device> device, const KernelConfig& config);
std::unique_ptr<Peer> make_cpu_peer(std::shared_ptr<Device> device);

}  // namespace tmm::bench
