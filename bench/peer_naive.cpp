// The peer that any course begins with: tmm's own naive family, one thread an element.
#include <fmt/format.h>

#include <stdexcept>

#include "bench/peers.h"
#include "generator/environment.h"
#include "generator/error.h"
#include "generator/search_space.h"
#include "generator/text.h"

namespace tmm::bench {
namespace {

class NaiveContestant final : public Contestant {
public:
    NaiveContestant(std::shared_ptr<Device> device, ExecutablePlan plan)
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

class NaivePeer final : public Peer {
public:
    explicit NaivePeer(std::shared_ptr<Device> device)
        : device_(std::move(device)), loader_(device_, make_compiler(device_->info()), KernelCache(default_cache_directory())) {}

    std::string name() const override { return "naive"; }
    std::string version() const override { return "tmm's naive family"; }

    std::vector<std::unique_ptr<Contestant>> offers(const GemmProblem& problem) override {
        std::vector<std::unique_ptr<Contestant>> found;
        for (const KernelConfig& config : configs(problem)) {
            auto made = ExecutablePlan::make(make_launch_plan(problem, config, device_->info()), loader_);
            if (auto* plan = std::get_if<ExecutablePlan>(&made))
                found.push_back(std::make_unique<NaiveContestant>(device_, std::move(*plan)));
        }
        if (found.empty()) throw std::runtime_error("the naive family's kernels do not compile for this problem");
        return found;
    }

private:
    // Throws std::runtime_error with the rule that the family's plainest config breaks where none is valid.
    std::vector<KernelConfig> configs(const GemmProblem& problem) const {
        const KernelConfig plainest{.family = family::naive, .block_m = 8, .block_n = 32};
        if (const auto reason = why_invalid(problem, plainest, device_->info())) throw std::runtime_error(*reason);
        std::vector<KernelConfig> chosen;
        for (const KernelConfig& config : search_space(problem, device_->info(), Effort::quick).candidates)
            if (config.family == family::naive) chosen.push_back(config);
        if (chosen.empty()) chosen.push_back(plainest);
        return chosen;
    }

    std::shared_ptr<Device> device_;
    KernelLoader loader_;
};

}  // namespace

std::unique_ptr<Peer> make_naive_peer(std::shared_ptr<Device> device) {
    return std::make_unique<NaivePeer>(std::move(device));
}

}  // namespace tmm::bench
