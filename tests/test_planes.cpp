// The steps around a product of planes, on the emulated device: what the planes hold, which lines are unfit, who computes then.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "generator/assumed_device.h"
#include "generator/launch_plan.h"
#include "generator/search_space.h"
#include "generator/shapes_file.h"
#include "generator/template_files.h"
#include "generator/text.h"
#include "runtime/executable_plan.h"
#include "runtime/host_device.h"
#include "tmm/planes.h"
#include "tmm/rescue.h"
#include "tmm/wgmma.h"

using namespace tmm;

namespace {

KernelConfig config_of(int planes, int split_k = 1) {
    return parse_config(
        fmt::format("family=wgmma,block_m=128,block_n=128,block_k=64,stages=2,vector_width=8,boundary=hardware,split_k={},"
                    "warps_m=2,planes={},promote_k=64",
                    split_k, planes));
}

double value_of(ElementType type, unsigned bits) {
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
        // One cluster of blocks splits all lines.
        bool one_cluster = false;
        // Parts of K that another kernel adds up.
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
            if (step.config.family == family::wgmma) {
                kernels_.emplace_back();
                continue;
            }
            const KernelSource source = make_kernel_source(step.signature, step.config);
            const CompileResult compiled = compiler_->compile(source);
            if (const auto* failure = std::get_if<CompileFailure>(&compiled)) FAIL(failure->log);
            kernels_.push_back(device_->load(std::get<CompiledKernel>(compiled), source.name, step.shared_bytes));
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
            const std::size_t bytes = step.bind_preparation(step, problem_, preparation, arguments);
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
            const std::size_t bytes = step.bind(step, problem_, call, arguments);
            if (step.config.family == family::wgmma) {
                std::memcpy(&product_, arguments, sizeof product_);
                maps_ = step.tensor_maps(step, arguments);
            } else {
                if (launch(i, arguments, bytes)) launched_.push_back(step.config.family);
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
    const std::vector<int>& launched() const { return launched_; }

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
        if (one_cluster_ && plan_.steps[i].config.family == family::planes) shape.grid = std::min<std::int64_t>(shape.grid, shape.cluster);
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
    std::vector<int> launched_;
};

std::vector<float> normal_values(i64 count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = normal(random);
    return values;
}

// A x B with whatever Inf and NaN do, k in order, in sums of 64, each beginning with what the one before lost when it was added.
std::vector<float> product_of(const std::vector<float>& a, const std::vector<float>& b, i64 m, i64 n, i64 k) {
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

// Lines far apart in size, from next to the largest float to next to the smallest; one of them is 0.
std::vector<float> spread_operand(const GemmProblem& problem, bool of_a) {
    const i64 rows = of_a ? stored_rows_a(problem) : stored_rows_b(problem);
    const i64 columns = of_a ? stored_columns_a(problem) : stored_columns_b(problem);
    const i64 ld = of_a ? problem.lda : problem.ldb;
    const i64 stride = of_a ? problem.stride_a : problem.stride_b;
    std::vector<float> values = normal_values((problem.batch - 1) * stride + (rows - 1) * ld + columns, of_a ? 1 : 2);
    const bool line_is_row = of_a ? problem.op_a == Operation::none : problem.op_b == Operation::transpose;
    for (i64 member = 0; member < problem.batch; ++member)
        for (i64 row = 0; row < rows; ++row)
            for (i64 column = 0; column < columns; ++column) {
                const i64 line = line_is_row ? row : column;
                float& value = values[static_cast<std::size_t>(member * stride + row * ld + column)];
                value = line == 2 ? 0.0f : std::ldexp(value, line == 0 ? 124 : line == 1 ? -100 : static_cast<int>(line % 40) - 20);
            }
    return values;
}

// Of what the planes stand for, relative to each element.
double worst_error(const Steps& steps, const GemmProblem& problem, bool of_a, const std::vector<float>& values) {
    const i64 rows = of_a ? stored_rows_a(problem) : stored_rows_b(problem);
    const i64 columns = of_a ? stored_columns_a(problem) : stored_columns_b(problem);
    const i64 ld = of_a ? problem.lda : problem.ldb;
    const i64 stride = of_a ? problem.stride_a : problem.stride_b;
    double worst = 0;
    for (i64 member = 0; member < problem.batch; ++member)
        for (i64 row = 0; row < rows; ++row)
            for (i64 column = 0; column < columns; ++column) {
                const auto expected = static_cast<double>(values[static_cast<std::size_t>(member * stride + row * ld + column)]);
                const double error = std::abs(steps.recombined(of_a, member, row, column) - expected);
                if (error != 0) worst = std::max(worst, std::isfinite(error) ? error / std::abs(expected) : HUGE_VAL);
            }
    return worst;
}

double worst_error_of_split(Steps& steps, const GemmProblem& problem) {
    const std::vector<float> a = spread_operand(problem, true), b = spread_operand(problem, false);
    std::vector<float> c(static_cast<std::size_t>(problem.batch > 1 ? problem.batch * problem.stride_c : problem.m * problem.n));
    steps.run(a, b, c);
    return std::max(worst_error(steps, problem, true, a), worst_error(steps, problem, false, b));
}

}  // namespace

TEST_CASE("the planes of an element add up to it: with f16 to 23 bits, with bf16 exactly, whatever the layout and the scale of its line") {
    for (const int planes : {2, 3}) {
        for (const char* shape : {"67x5x300 ops=nn", "67x131x70 ops=nt lda=73", "33x130x9 ops=tn align=4 lda=35 ldb=131",
                                  "130x66x133 ops=tt batch=2", "1x1x1 batch=3", "3x5x4501 ops=nn", "2x3x4700 ops=tt"}) {
            CAPTURE(planes);
            CAPTURE(std::string(shape));
            const GemmProblem problem = parse_shape(shape).problem;
            for (const int split : {1, 3}) {
                if (split > problem.k) continue;
                CAPTURE(split);
                Steps steps(problem, planes, {.split_k = split});
                CHECK(worst_error_of_split(steps, problem) <= (planes == 2 ? 0x1p-23 : 0.0));
                CHECK(!steps.unfit());
            }
        }
    }
}

TEST_CASE("clusters that walk over several tiles split them as well, and no barrier among them is idle") {
    const GemmProblem problem = parse_shape("66x67x600 ops=nn").problem;
    std::vector<float> unfit_a = normal_values(problem.m * problem.k, 3);
    // By threads that do not write the mark.
    unfit_a[static_cast<std::size_t>(problem.k)] = 0x1p60f;
    const auto splits_well = [&](const char* order, const TemplateFiles& files) {
        Steps steps(problem, 2, {.files = files, .order = order, .one_cluster = true});
        if (!(worst_error_of_split(steps, problem) <= 0x1p-23) || steps.unfit()) return false;
        std::vector<float> c(static_cast<std::size_t>(problem.m * problem.n));
        steps.run(unfit_a, normal_values(problem.k * problem.n, 4), c);
        return steps.unfit_tiles_a() == std::vector<std::size_t>{0} && !steps.unfit_b();
    };
    for (const char* order : {"ascending", "descending", "shuffled:7"}) {
        CAPTURE(std::string(order));
        CHECK(splits_well(order, active_templates()));
    }
    for (const char* reason :
         {"// Every warp's are there.\n            __syncthreads();", "// Every block's are there.\n        sync();",
          "// Every line's scale is there.\n        __syncthreads();", "showed each other is read.\n        meet();"}) {
        CAPTURE(std::string(reason));
        TemplateFiles files = active_templates();
        std::string& text = files.at("tmm/planes.cuh");
        const std::size_t at = text.find(reason);
        REQUIRE(at != std::string::npos);
        text.erase(at, std::string(reason).size());
        bool caught = false;
        for (const char* order : {"ascending", "descending", "shuffled:7"}) {
            try {
                caught = caught || !splits_well(order, files);
            } catch (const std::exception&) {
                caught = true;
            }
        }
        CHECK(caught);
    }
}

TEST_CASE("TMA finds every plane, as a matrix of the batch, where the split leaves it") {
    for (const char* shape : {"200x328x456 ops=nt", "200x328x457 ops=tn batch=3"}) {
        CAPTURE(std::string(shape));
        const GemmProblem problem = parse_shape(shape).problem;
        const LaunchPlan plan = make_launch_plan(problem, config_of(3), assumed_device("90"));
        REQUIRE(plan.steps.size() == 3);
        const LaunchStep& product = plan.steps[1];
        auto* const workspace = reinterpret_cast<std::byte*>(0x400000000);
        alignas(64) std::byte arguments[kMaxArgumentBytes];
        auto* const c = reinterpret_cast<std::byte*>(0x500000000);
        product.bind(product, problem, GemmCall{.a = workspace, .b = workspace, .c = c, .workspace = workspace}, arguments);
        WgmmaArgs args;
        std::memcpy(&args, arguments, sizeof args);
        for (const TensorMapRequest& map : product.tensor_maps(product, arguments)) {
            if (map.address == args.c) continue;
            const bool of_a = map.address == args.a;
            CHECK(map.type == ElementType::bf16);
            CHECK(map.matrices == 3 * problem.batch);
            CHECK(map.rows == (of_a ? stored_rows_a(problem) : stored_rows_b(problem)));
            CHECK(map.columns == (of_a ? stored_columns_a(problem) : stored_columns_b(problem)));
            CHECK(map.row_bytes % 16 == 0);
            CHECK(map.row_bytes >= map.columns * 2);
            CHECK(map.matrix_bytes == map.rows * map.row_bytes);
            CHECK((args.stride(!of_a) != 0) == (problem.batch > 1));
        }
        // Parts of the workspace do not overlap, and end within it.
        const auto* const end = workspace + plan.workspace_bytes;
        CHECK(args.a < args.exponents_left);
        CHECK(args.exponents_left < static_cast<const void*>(args.unfit_a.of_tile));
        CHECK(reinterpret_cast<const std::byte*>(args.unfit_a.of_tile) + planes::rounded(args.unfit_a.count * 4) == args.b);
        CHECK(args.b < static_cast<const void*>(args.exponents_right));
        CHECK(args.exponents_right < static_cast<const void*>(args.unfit_b.of_tile));
        CHECK(reinterpret_cast<const std::byte*>(args.unfit_b.of_tile) + planes::rounded(args.unfit_b.count * 4) == end);
    }
}

TEST_CASE("Inf, NaN and lines of too wide a range are computed by FMAs in the same call; a few short elements are not") {
    const GemmProblem problem = parse_shape("70x50x90").problem;
    const auto [m, n, k] = std::array{problem.m, problem.n, problem.k};
    struct Case {
        const char* name;
        int planes;
        bool fits;
        void (*plant)(std::vector<float>& a, std::vector<float>& b);
    };
    const Case cases[] = {
        {"as they are", 2, true, [](auto&, auto&) {}},
        {"Inf in A", 2, false, [](auto& a, auto&) { a[777] = std::numeric_limits<float>::infinity(); }},
        {"NaN in B", 3, false, [](auto&, auto& b) { b[4499] = std::numeric_limits<float>::quiet_NaN(); }},
        {"one short element", 2, true, [](auto& a, auto&) { a[91] = 0x1p-40f; }},
        {"one row far below its largest", 2, false, [](auto& a, auto&) { a[90 * 69] = 0x1p40f; }},
        {"one column far below its largest", 2, false, [](auto&, auto& b) { b[49] = -0x1p60f; }},
        {"a range that bf16 holds", 3, true, [](auto& a, auto& b) { a[90 * 69] = 0x1p60f, b[49] = -0x1p60f; }},
        {"the largest float", 2, false, [](auto& a, auto&) { a[0] = std::numeric_limits<float>::max(); }},
        {"subnormal", 2, false,
         [](auto& a, auto&) {
             for (float& x : a) x *= 0x1p-140f;
         }},
        {"zeros", 2, true,
         [](auto& a, auto&) {
             for (float& x : a) x = 0;
         }},
    };
    for (const Case& one : cases) {
        CAPTURE(std::string(one.name));
        std::vector<float> a = normal_values(m * k, 11), b = normal_values(k * n, 12);
        one.plant(a, b);
        const std::vector<float> untouched(static_cast<std::size_t>(m * n), 7.0f);
        std::vector<float> c = untouched;
        Steps steps(problem, one.planes);
        steps.run(a, b, c);
        CHECK(steps.unfit() != one.fits);
        if (one.fits) {
            // The product of planes would have written C; it does not run here.
            CHECK(c == untouched);
        } else {
            const std::vector<float> expected = product_of(a, b, m, n, k);
            int wrong = 0;
            for (std::size_t i = 0; i < c.size(); ++i)
                if (!(std::isnan(expected[i]) ? std::isnan(c[i]) : c[i] == expected[i])) ++wrong;
            CHECK(wrong == 0);
        }
        // The mark is the call's own.
        std::vector<float> next = untouched;
        steps.run(normal_values(m * k, 13), normal_values(k * n, 14), next);
        CHECK(!steps.unfit());
        CHECK(next == untouched);
        // Without alpha nothing is read.
        steps.run(a, b, next, 0);
        CHECK(!steps.unfit());
        CHECK(steps.maps().count == 0);
    }
}

TEST_CASE("FMAs take over parts of K, too, whether they fill the GPU or not, and their sums begin anew every 64 of K") {
    for (const char* shape : {"70x50x300", "40x30x257 ops=tn batch=50", "33x20x70 batch=3"}) {
        CAPTURE(std::string(shape));
        const GemmProblem problem = parse_shape(shape).problem;
        const auto [m, n, k, batch] = std::array{problem.m, problem.n, problem.k, problem.batch};
        std::vector<float> a = normal_values(batch * m * k, 51), b = normal_values(batch * k * n, 52);
        for (float& x : a) x = std::abs(x);
        for (float& x : b) x = std::abs(x);
        a[0] = 0x1p60f;
        for (const int split : {1, 3}) {
            CAPTURE(split);
            Steps steps(problem, 2, {.split_k = split});
            std::vector<float> c(static_cast<std::size_t>(batch * m * n), std::numeric_limits<float>::quiet_NaN());
            steps.run(a, b, c);
            CHECK(steps.unfit_a());
            CHECK(steps.launched() == (split == 1 ? std::vector<int>{family::planes, family::rescue}
                                                  : std::vector<int>{family::planes, family::rescue, family::reduce}));
            double worst = 0;
            for (i64 member = 0; member < batch; ++member)
                for (i64 i = 0; i<m; i += m> 100 ? 37 : 1)
                    for (i64 j = 0; j<n; j += n> 100 ? 41 : 1) {
                        double exact = 0;
                        for (i64 p = 0; p < k; ++p) {
                            const i64 in_a = problem.op_a == Operation::none ? i * problem.lda + p : p * problem.lda + i;
                            exact += static_cast<double>(a[static_cast<std::size_t>(member * problem.stride_a + in_a)]) *
                                     static_cast<double>(b[static_cast<std::size_t>(member * problem.stride_b + p * problem.ldb + j)]);
                        }
                        const float result = c[static_cast<std::size_t>(member * m * n + i * n + j)];
                        worst = std::max(worst, std::abs(static_cast<double>(result) - exact) / exact);
                    }
            CHECK(worst > 0);
            // 64 roundings of a sum, and those of the sums' sum, which are few.
            CHECK(worst <= (64 + 5) * 0x1p-24);
        }
    }
}

TEST_CASE("a prepared operand holds what a call splits, and a call with it splits, reads and writes only the other") {
    for (const int planes : {2, 3}) {
        for (const char* shape :
             {"67x131x70 ops=nt lda=73", "33x130x9 ops=tn align=4 lda=35 ldb=131", "130x66x133 batch=2", "20x70x33 ops=tt batch=3"}) {
            CAPTURE(planes);
            CAPTURE(std::string(shape));
            GemmProblem problem = parse_shape(shape).problem;
            // All of the batch multiply the same B.
            if (problem.batch == 3) problem.stride_b = 0;
            Steps steps(problem, planes);
            const auto operand = [&](i64 rows, i64 ld, i64 stride, unsigned seed) {
                return normal_values((problem.batch - 1) * stride + rows * ld, seed);
            };
            const std::vector<float> a = operand(stored_rows_a(problem), problem.lda, problem.stride_a, 21);
            const std::vector<float> b = operand(stored_rows_b(problem), problem.ldb, problem.stride_b, 22);
            std::vector<float> c(static_cast<std::size_t>(problem.batch > 1 ? problem.batch * problem.stride_c : problem.m * problem.n), 7);
            const std::vector<float> untouched = c;
            steps.run(a, b, c);
            CHECK(steps.launched() == std::vector<int>{family::planes, family::rescue});
            const std::vector<std::byte> part_a = steps.part(GemmOperand::a), part_b = steps.part(GemmOperand::b);

            const DeviceBuffer prepared_a = steps.prepare(GemmOperand::a, a), prepared_b = steps.prepare(GemmOperand::b, b);
            CHECK((steps.bytes_of(prepared_a) == part_a));
            CHECK((steps.bytes_of(prepared_b) == part_b));
            CHECK(static_cast<i64>(part_a.size() + part_b.size()) == steps.plan().workspace_bytes);

            // What is prepared is not read again: NaN there would be unfit.
            const std::vector<float> nan_a(a.size(), std::numeric_limits<float>::quiet_NaN());
            const std::vector<float> nan_b(b.size(), std::numeric_limits<float>::quiet_NaN());
            const auto untouched_part = [](const std::vector<std::byte>& part) { return std::vector(part.size(), std::byte{0xff}); };
            for (const int which : {1, 2, 3}) {
                CAPTURE(which);
                const bool has_a = (which & 1) != 0, has_b = (which & 2) != 0;
                steps.poison_workspace();
                steps.run(has_a ? nan_a : a, has_b ? nan_b : b, c, 1,
                          {.a = has_a ? prepared_a.data() : nullptr, .b = has_b ? prepared_b.data() : nullptr});
                CHECK(!steps.unfit());
                CHECK((c == untouched));
                CHECK((steps.part(GemmOperand::a) == (has_a ? untouched_part(part_a) : part_a)));
                CHECK((steps.part(GemmOperand::b) == (has_b ? untouched_part(part_b) : part_b)));
                CHECK((steps.bytes_of(prepared_a) == part_a));
                CHECK((steps.bytes_of(prepared_b) == part_b));
                CHECK((steps.product().a == prepared_a.data()) == has_a);
                CHECK((steps.product().b == prepared_b.data()) == has_b);
                CHECK(steps.launched() ==
                      (which == 3 ? std::vector<int>{family::rescue} : std::vector<int>{family::planes, family::rescue}));
                // Without alpha nothing is read and nothing left over from before decides: FMAs have nothing to do.
                steps.poison_workspace();
                steps.run(nan_a, nan_b, c, 0, {.a = has_a ? prepared_a.data() : nullptr, .b = has_b ? prepared_b.data() : nullptr});
                CHECK(!steps.unfit());
                CHECK(steps.maps().count == 0);
                CHECK((c == untouched));
            }
        }
    }
}

TEST_CASE("an unfit line of a prepared operand sends each of its calls to FMAs, until it is prepared again") {
    const GemmProblem problem = parse_shape("70x50x90").problem;
    const auto [m, n, k] = std::array{problem.m, problem.n, problem.k};
    const std::vector<float> a = normal_values(m * k, 31), b = normal_values(k * n, 32), untouched(static_cast<std::size_t>(m * n), 7.0f);
    std::vector<float> inf_a = a, inf_b = b;
    inf_a[777] = std::numeric_limits<float>::infinity();
    inf_b[4499] = -std::numeric_limits<float>::infinity();
    const auto same = [](float x, float y) { return std::isnan(x) ? std::isnan(y) : x == y; };
    for (const int planes : {2, 3}) {
        CAPTURE(planes);
        Steps steps(problem, planes);
        // Whether the FMAs have written the product; they write all of it or nothing.
        const auto rescued = [&](const std::vector<float>& x, const std::vector<float>& y, Prepared prepared) {
            std::vector<float> c = untouched;
            steps.run(x, y, c, 1, prepared);
            if (c == untouched) return false;
            const std::vector<float> expected = product_of(x, y, m, n, k);
            CHECK(std::equal(c.begin(), c.end(), expected.begin(), same));
            return true;
        };
        const DeviceBuffer good_a = steps.prepare(GemmOperand::a, a), good_b = steps.prepare(GemmOperand::b, b);
        const DeviceBuffer bad_a = steps.prepare(GemmOperand::a, inf_a), bad_b = steps.prepare(GemmOperand::b, inf_b);

        // The call's own mark is set, and cleared by the next call.
        CHECK(rescued(inf_a, b, {.b = good_b.data()}));
        CHECK(steps.unfit_a());
        CHECK(!steps.unfit_b());
        CHECK(rescued(a, inf_b, {.b = bad_b.data()}));
        CHECK(!steps.unfit_a());
        CHECK(steps.unfit_b());
        CHECK(!rescued(a, b, {.b = good_b.data()}));

        CHECK(rescued(a, inf_b, {.a = good_a.data()}));
        CHECK(rescued(inf_a, b, {.a = bad_a.data()}));
        CHECK(!rescued(a, b, {.a = good_a.data()}));

        CHECK(rescued(inf_a, b, {.a = bad_a.data(), .b = good_b.data()}));
        CHECK(rescued(a, inf_b, {.a = good_a.data(), .b = bad_b.data()}));
        CHECK(rescued(inf_a, inf_b, {.a = bad_a.data(), .b = bad_b.data()}));
        CHECK(!rescued(a, b, {.a = good_a.data(), .b = good_b.data()}));
    }
}

TEST_CASE("only a plan that multiplies planes has something to prepare") {
    const GemmProblem problem = parse_shape("70x50x90").problem;
    const DeviceInfo h200 = assumed_device("90");
    const LaunchPlan of_planes = make_launch_plan(problem, config_of(2), h200);
    CHECK(prepared_bytes(of_planes, GemmOperand::a) % 256 == 0);
    CHECK(prepared_bytes(of_planes, GemmOperand::a) > 2 * 70 * 90 * 2);
    CHECK(prepared_bytes(of_planes, GemmOperand::b) > 2 * 90 * 50 * 2);
    for (const GemmOperand operand : {GemmOperand::a, GemmOperand::b}) {
        CHECK(prepared_bytes(make_launch_plan(problem, fallback_config(problem), h200), operand) == 0);
        GemmProblem empty = problem;
        empty.m = 0;
        CHECK(prepared_bytes(make_launch_plan(empty, config_of(2), h200), operand) == 0);
    }
}

TEST_CASE("f32 may multiply planes, f32_strict may not") {
    const DeviceInfo h200 = assumed_device("90");
    const auto families = [&](const char* shape) {
        int planes = 0;
        for (const KernelConfig& config : search_space(parse_shape(shape).problem, h200, Effort::normal).candidates)
            if (config.planes > 1) ++planes;
        return planes;
    };
    CHECK(families("4096x4096x4096") > 20);
    CHECK(families("4096x4096x4096 compute=f32_strict") == 0);
    CHECK(default_config(parse_shape("4096x4096x4096").problem, h200).planes > 1);
    CHECK(default_config(parse_shape("4096x4096x4096 compute=f32_strict").problem, h200).planes == 1);
    CHECK(default_config(parse_shape("1x4096x4096").problem, h200).planes == 1);
    CHECK(why_invalid(parse_shape("4096x4096x4096 compute=f32_strict").problem, config_of(2), h200).value_or("").find("f32_strict") !=
          std::string::npos);
    CHECK(why_invalid(parse_shape("4096x4096x4096").problem, config_of(2), assumed_device("80")).has_value());
    CHECK(why_invalid(parse_shape("4096x4096x4096 dtype=f16 ctype=f32").problem, config_of(2), h200).value_or("").find("f32 operands") !=
          std::string::npos);
}
