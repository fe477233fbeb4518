// Peers that are kernels of tmm's own: the naive family, one thread an element, which any course begins with, and any config by its
// spelling.
#include <fmt/format.h>

#include <stdexcept>

#include "base/error.h"
#include "base/text/environment.h"
#include "bench/peers/peers.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/text/text.h"

namespace tmm::bench {
namespace {

class ConfigContestant final : public Contestant {
public:
    ConfigContestant(std::shared_ptr<Device> device, ExecutablePlan plan)
        : plan_(std::move(plan)), workspace_(std::move(device), static_cast<std::size_t>(plan_.plan().workspace_bytes)) {}

    void enqueue(const GemmCall& call, Stream stream) override {
        GemmCall own = call;
        own.workspace = workspace_.data();
        plan_.run(own, stream);
    }
    std::int64_t workspace_bytes() const override { return plan_.plan().workspace_bytes; }
    std::string detail() const override { return to_text(plan_.plan().config); }

private:
    ExecutablePlan plan_;
    DeviceBuffer workspace_;
};

// Makes contestants of configs.
class ConfigLoader {
public:
    explicit ConfigLoader(std::shared_ptr<Device> device)
        : device_(std::move(device)), loader_(device_, make_compiler(device_->info()), KernelCache(default_cache_directory())) {}

    const DeviceInfo& info() const { return device_->info(); }

    // The contestants of the configs that compile. Throws std::runtime_error where none does.
    std::vector<std::unique_ptr<Contestant>> contestants(const GemmProblem& problem, const std::vector<KernelConfig>& configs) {
        std::vector<std::unique_ptr<Contestant>> found;
        for (const KernelConfig& config : configs) {
            auto made = ExecutablePlan::make(make_launch_plan(problem, config, info()), loader_);
            if (auto* plan = std::get_if<ExecutablePlan>(&made))
                found.push_back(std::make_unique<ConfigContestant>(device_, std::move(*plan)));
        }
        if (found.empty()) throw std::runtime_error("its kernels do not compile for this problem");
        return found;
    }

private:
    std::shared_ptr<Device> device_;
    KernelLoader loader_;
};

class NaivePeer final : public Peer {
public:
    explicit NaivePeer(std::shared_ptr<Device> device) : loader_(std::move(device)) {}

    std::string name() const override { return "naive"; }
    std::string version() const override { return "tmm's naive family"; }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        return loader_.contestants(problem, configs(problem));
    }

private:
    // Throws std::runtime_error with the rule that the family's plainest config breaks where none is valid.
    std::vector<KernelConfig> configs(const GemmProblem& problem) const {
        const KernelConfig plainest = plainest_config();
        if (const auto reason = why_invalid(problem, plainest, loader_.info())) throw std::runtime_error(*reason);
        std::vector<KernelConfig> chosen;
        for (const KernelConfig& config : search_space(problem, loader_.info(), Effort::quick).candidates)
            if (config.family == plainest.family) chosen.push_back(config);
        if (chosen.empty()) chosen.push_back(plainest);
        return chosen;
    }

    ConfigLoader loader_;
};

class ConfigPeer final : public Peer {
public:
    ConfigPeer(std::shared_ptr<Device> device, const KernelConfig& config) : loader_(std::move(device)), config_(config) {}

    std::string name() const override { return to_text(config_); }
    std::string version() const override { return "tmm's " + name(); }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        if (const auto reason = why_invalid(problem, config_, loader_.info())) throw std::runtime_error(*reason);
        return loader_.contestants(problem, {config_});
    }

private:
    ConfigLoader loader_;
    KernelConfig config_;
};

}  // namespace

std::unique_ptr<Peer> make_naive_peer(std::shared_ptr<Device> device) {
    return std::make_unique<NaivePeer>(std::move(device));
}

std::unique_ptr<Peer> make_config_peer(std::shared_ptr<Device> device, const KernelConfig& config) {
    return std::make_unique<ConfigPeer>(std::move(device), config);
}

}  // namespace tmm::bench
