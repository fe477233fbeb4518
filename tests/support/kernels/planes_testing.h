// Runs the steps around a product of planes on the emulated device, for the tests of those steps.
#pragma once

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/kernel/template_files.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/plan_testing.h"
#include "tmm/families/wgmma/rules.h"
#include "tmm/steps/planes/rules.h"

namespace planes_testing {

using namespace tmm;

inline KernelConfig config_of(int planes, int split_k = 1) {
    return parse_config(
        fmt::format("family=wgmma,block_m=128,block_n=128,block_k=64,stages=2,vector_width=8,boundary=hardware,split_k={},"
                    "warps_m=2,planes={},promote_k=64",
                    split_k, planes));
}

inline double value_of(ElementType type, unsigned bits) {
    if (type == ElementType::bf16) return static_cast<double>(std::bit_cast<float>(bits << 16));
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const int fraction = static_cast<int>(bits & 0x3ff);
    return ((bits & 0x8000) != 0 ? -1 : 1) * std::ldexp(exponent == 0 ? fraction : fraction + 0x400, std::max(exponent, 1) - 25);
}

// Operands that a run does not split.
struct Prepared {
    const void* a = nullptr;
    const void* b = nullptr;
};

// The steps of a plan for compute capability 9.0, but for the product itself, run on the emulated device.
class Steps {
public:
    struct Options {
        TemplateFiles files = active_templates();
        const char* order = "shuffled:5";
        // Whether one cluster of thread blocks splits all lines.
        bool one_cluster = false;
        // Number of parts of K that another kernel adds up.
        int split_k = 1;
    };

    Steps(const GemmProblem& problem, int planes) : Steps(problem, planes, Options{}) {}
    Steps(const GemmProblem& problem, int planes, const Options& options)
        : problem_(problem),
          planes_(planes),
          one_cluster_(options.one_cluster),
          split_k_(options.split_k),
          device_(make_host_device(options.order)),
          compiler_(make_host_compiler(options.files)),
          plan_(make_plan()) {
        for (const LaunchStep& step : plan_.steps) {
            if (is_of_family(step, family::wgmma)) {
                kernels_.emplace_back();
                continue;
            }
            const KernelSource source = make_kernel_source(step.signature, step.kernel);
            const CompileResult compiled = compiler_->compile(source);
            if (const auto* failure = std::get_if<CompileFailure>(&compiled)) FAIL(failure->log);
            kernels_.push_back(device_->load(std::get<CompiledKernel>(compiled), source.name));
        }
        workspace_ = poisoned(plan_.workspace_bytes);
    }

    DeviceBuffer prepare(GemmOperand operand, const std::vector<float>& values) const {
        DeviceBuffer prepared = poisoned(prepared_bytes(plan_, operand));
        const DeviceBuffer matrix = on_device(values);
        const Preparation preparation{.operand = operand, .matrix = matrix.data(), .prepared = prepared.data()};
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            const LaunchStep& step = plan_.steps[i];
            if (!step.bind_preparation) continue;
            alignas(64) std::byte arguments[kMaxArgumentBytes];
            const std::size_t bytes = step.bind_preparation(plan_, step, preparation, arguments);
            launch(i, arguments, bytes);
        }
        return prepared;
    }

    // a and b as they are stored; c is read and written.
    void run(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c, double alpha = 1, Prepared prepared = {}) {
        const DeviceBuffer device_a = on_device(a), device_b = on_device(b), device_c = on_device(c);
        const GemmCall call{.a = alpha == 0 ? nullptr : device_a.data(),
                            .b = alpha == 0 ? nullptr : device_b.data(),
                            .c = device_c.data(),
                            .workspace = workspace_.data(),
                            .alpha = alpha,
                            .prepared_a = prepared.a,
                            .prepared_b = prepared.b};
        launched_.clear();
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            const LaunchStep& step = plan_.steps[i];
            alignas(64) std::byte arguments[kMaxArgumentBytes];
            const std::size_t bytes = step.bind(plan_, step, call, arguments);
            if (is_of_family(step, family::wgmma)) {
                std::memcpy(&product_, arguments, sizeof product_);
                maps_ = step.tensor_maps(step, arguments);
            } else {
                if (launch(i, arguments, bytes)) launched_.push_back(name_of(step));
            }
        }
        device_->copy_to_host(c.data(), device_c.data(), device_c.bytes());
    }

    bool unfit_a() const { return !unfit_tiles_a().empty(); }
    bool unfit_b() const { return !marked(product_.unfit_b).empty(); }
    std::vector<std::size_t> unfit_tiles_a() const { return marked(product_.unfit_a); }
    bool unfit() const { return unfit_a() || unfit_b(); }
    // The number that the planes of an element stand for; element: of the stored operand.
    double recombined(bool of_a, i64 member, i64 row, i64 column) const {
        const ElementType type = planes::type_of(planes_);
        const i64 rows = of_a ? stored_rows_a(problem_) : stored_rows_b(problem_);
        const i64 ld = of_a ? product_.lda : product_.ldb;
        double sum = 0;
        for (int plane = planes_ - 1; plane >= 0; --plane) {
            const auto* const first = static_cast<const std::uint16_t*>(of_a ? product_.a : product_.b);
            std::uint16_t bits = 0;
            device_->copy_to_host(&bits, first + ((member * planes_ + plane) * rows + row) * ld + column, sizeof bits);
            sum += value_of(type, bits) * (planes_ == 2 && plane == 1 ? 0x1p-11 : 1.0);
        }
        const bool line_is_row = of_a ? problem_.op_a == Operation::none : problem_.op_b == Operation::transpose;
        const i64 lines = of_a ? problem_.m : problem_.n;
        const i64 part = (line_is_row ? column : row) / product_.k_per_split;
        const int* const exponents = of_a ? product_.exponents_left : product_.exponents_right;
        int exponent = 0;
        device_->copy_to_host(&exponent, exponents + (member * product_.split_k + part) * lines + (line_is_row ? row : column),
                              sizeof exponent);
        return std::ldexp(sum, exponent);
    }

    const LaunchPlan& plan() const { return plan_; }
    const WgmmaArgs& product() const { return product_; }
    const TensorMapRequests& maps() const { return maps_; }
    std::vector<std::byte> bytes_of(const DeviceBuffer& buffer) const {
        std::vector<std::byte> bytes(buffer.bytes());
        device_->copy_to_host(bytes.data(), buffer.data(), bytes.size());
        return bytes;
    }
    // An operand's part of the workspace.
    std::vector<std::byte> part(GemmOperand operand) const {
        const std::vector<std::byte> all = bytes_of(workspace_);
        const auto end_of_a = all.begin() + prepared_bytes(plan_, GemmOperand::a);
        return operand == GemmOperand::a ? std::vector(all.begin(), end_of_a) : std::vector(end_of_a, all.end());
    }
    void poison_workspace() { workspace_ = poisoned(plan_.workspace_bytes); }
    // The families that the last run launched, without the product.
    const std::vector<std::string>& launched() const { return launched_; }

private:
    DeviceBuffer poisoned(std::int64_t bytes) const {
        DeviceBuffer buffer(device_, static_cast<std::size_t>(bytes));
        device_->fill_bytes(buffer.data(), 0xff, buffer.bytes());
        return buffer;
    }
    DeviceBuffer on_device(const std::vector<float>& values) const {
        DeviceBuffer buffer(device_, values.size() * 4);
        device_->copy_to_device(buffer.data(), values.data(), buffer.bytes());
        return buffer;
    }
    // The tiles of lines that do not fit their planes.
    std::vector<std::size_t> marked(const UnfitMarks& marks) const {
        std::vector<unsigned> values(static_cast<std::size_t>(marks.count));
        device_->copy_to_host(values.data(), marks.of_tile, values.size() * sizeof(unsigned));
        std::vector<std::size_t> tiles;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] != 0) tiles.push_back(i);
        return tiles;
    }
    bool launch(std::size_t i, const std::byte* arguments, std::size_t bytes) const {
        LaunchShape shape = shape_of(plan_.steps[i]);
        shape.grid = grid_for(plan_.steps[i], arguments);
        if (one_cluster_ && std::holds_alternative<Planes>(plan_.steps[i].kernel))
            shape.grid = std::min<std::int64_t>(shape.grid, shape.cluster);
        if (shape.grid > 0) device_->launch(*kernels_[i], shape, arguments, bytes, nullptr);
        return shape.grid > 0;
    }
    LaunchPlan make_plan() const {
        const KernelConfig config = config_of(planes_, split_k_);
        CHECK(why_invalid(problem_, config, assumed_device("90")).value_or("") == "");
        return make_launch_plan(problem_, config, assumed_device("90"));
    }

    GemmProblem problem_;
    int planes_;
    bool one_cluster_;
    int split_k_;
    std::shared_ptr<Device> device_;
    std::shared_ptr<const Compiler> compiler_;
    LaunchPlan plan_;
    std::vector<std::shared_ptr<const LoadedKernel>> kernels_;
    DeviceBuffer workspace_;
    WgmmaArgs product_;
    TensorMapRequests maps_;
    std::vector<std::string> launched_;
};

inline std::vector<float> normal_values(i64 count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = normal(random);
    return values;
}

// A x B with whatever Inf and NaN do, k in order, in sums of 64, each beginning with what the one before lost when it was added.
inline std::vector<float> product_of(const std::vector<float>& a, const std::vector<float>& b, i64 m, i64 n, i64 k) {
    std::vector<float> c(static_cast<std::size_t>(m * n));
    for (i64 i = 0; i < m; ++i)
        for (i64 j = 0; j < n; ++j) {
            float total = 0, sum = 0;
            for (i64 first = 0; first < k; first += 64) {
                for (i64 p = first; p < std::min(k, first + 64); ++p)
                    sum = std::fma(a[static_cast<std::size_t>(i * k + p)], b[static_cast<std::size_t>(p * n + j)], sum);
                const double exact = static_cast<double>(total) + static_cast<double>(sum);
                total += sum;
                sum = std::isfinite(total) ? static_cast<float>(exact - static_cast<double>(total)) : 0;
            }
            c[static_cast<std::size_t>(i * n + j)] = total;
        }
    return c;
}

}  // namespace planes_testing
