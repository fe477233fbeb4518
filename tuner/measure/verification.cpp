#include "tuner/measure/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "generator/choice/validity.h"
#include "generator/problem/number_codec.h"
#include "generator/text/text.h"
#include "tmm/checks/verify/args.h"
#include "tmm/checks/verify/epilogue.h"
#include "tuner/measure/guarded_matrix.h"

namespace tmm {

namespace {

// Elements of C whose reference is kept; where C is larger, rows are sampled.
constexpr i64 kReferenceLimit = i64{1} << 25;
constexpr i64 kSampledRows = 128;
constexpr int kThreads = 128;
// Elements, of which as many as any alignment take a multiple of its bytes.
constexpr i64 kMemberAlignment = 256;

// The seed of the elements of a matrix: the seeds of A, B, C, the bias (3) and the residual (4) of every set differ.
u64 seed_of(std::uint64_t seed, int set, int matrix, int content) {
    return random_bits(random_bits(static_cast<u64>(seed), 0), static_cast<u64>((set * 8 + matrix) * 4 + content));
}

i64 ceil_div(i64 a, i64 b) {
    return (a + b - 1) / b;
}

struct OperandSet {
    Matrix a;
    Matrix b;
    Matrix c;
    // A row of elements, and a matrix: without any where the epilogue has none.
    Matrix bias;
    Matrix residual;
    // The addresses of the batch's matrices A, B and C, where a call gives those.
    DeviceBuffer addresses;
    // Bytes that a kernel touches; at least one.
    i64 bytes() const {
        i64 sum = 0;
        for (const MatrixRegion* region : {&a.region, &b.region, &c.region, &bias.region, &residual.region})
            sum += region->span * word_bytes(*region);
        return std::max<i64>(sum, 1);
    }
};

// The places at which the findings of one run are gathered.
namespace slot {
enum : std::size_t {
    compare,
    c_zones,
    c_elements,
    a_zones,
    a_elements,
    b_zones,
    b_elements,
    bias_zones,
    bias_elements,
    residual_zones,
    residual_elements,
    workspace_zones,
    workspace_elements,
    count
};
}
using Findings = std::array<Finding, slot::count>;

const char* content_name(int content) {
    switch (content) {
        case contents::integers: return "integers";
        case contents::below_tf32: return "values next to numbers of TF32";
        default: return "normal values";
    }
}

// The most that results may be off of what `below_tf32` makes exactly, relatively: half of what they lose where one of the operands is cut
// off. FMAs of the operands as they are stay far below it, as sums of rounded ones do.
constexpr double kCutOffBound = 1.0 / (1 << 12);

bool is_verifiable(const GemmProblem& p) {
    return p.epilogue != Epilogue::custom && serves_types(p) && serves_mode(p);
}

// Scalars of the integer runs: small, so that nothing is rounded, and 0 only where the caller's is.
double small_integer(double value) {
    if (value == 0) return 0;
    const double rounded = std::clamp(std::nearbyint(value), -4.0, 4.0);
    return rounded != 0 ? rounded : std::copysign(1.0, value);
}

// The problem with its batch one behind the other, each matrix at a multiple of whatever alignment is promised.
GemmProblem in_one_piece(GemmProblem p) {
    if (!p.pointers) return p;
    p.pointers = false;
    if (p.batch <= 1) return p;
    const auto apart = [](i64 rows, i64 ld) { return (rows * ld + kMemberAlignment - 1) / kMemberAlignment * kMemberAlignment; };
    p.stride_a = apart(stored_rows_a(p), p.lda);
    p.stride_b = apart(stored_rows_b(p), p.ldb);
    p.stride_c = apart(rows_of_c(p), p.ldc);
    return p;
}

// Rows to check: the first and last, those about tile edges at either end, and random ones.
std::vector<i64> sample_rows(i64 m, i64 count, std::uint64_t seed) {
    std::set<i64> rows;
    const auto add = [&](i64 row) {
        if (row >= 0 && row < m && static_cast<i64>(rows.size()) < count) rows.insert(row);
    };
    add(0);
    add(m - 1);
    for (const i64 tile : {128, 64, 256, 32, 16, 8, 4}) {
        const i64 last = (m - 1) / tile * tile;
        for (const i64 row : {last, last - 1, tile, tile - 1, last + 1, tile + 1}) add(row);
    }
    std::mt19937_64 random(seed);
    while (static_cast<i64>(rows.size()) < count) rows.insert(static_cast<i64>(random() % static_cast<std::uint64_t>(m)));
    return {rows.begin(), rows.end()};
}

}  // namespace

struct Verifier::State {
    State(KernelLoader& loader, const GemmProblem& asked, const VerificationOptions& how);

    Verdict check(const ExecutablePlan& plan, int content, double alpha, double beta);
    void fill_set(int set, int content, int c_content) const;
    void* workspace_of(std::int64_t bytes);
    // The call's matrices.
    GemmCall call_of(const OperandSet& set) const;

    std::shared_ptr<Device> device;
    // Its batch stands one behind the other, wherever calls say that it stands.
    GemmProblem problem;
    Arithmetic arithmetic;
    VerificationOptions options;
    bool has_addresses = false;
    // The scalars, rounded to their type.
    double alpha = 1;
    double beta = 0;
    // The first is for verification, the others for timing.
    std::vector<OperandSet> sets;
    // Rows of C that are checked against the reference; all of them where rows is empty.
    DeviceBuffer rows;
    std::vector<i64> row_list;
    i64 row_count = 0;
    DeviceBuffer integer_sum;
    // The values are positive, so that their sums are the magnitudes as well. It is made where TF32 is asked for.
    DeviceBuffer below_tf32_sum;
    DeviceBuffer normal_sum;
    DeviceBuffer normal_magnitude;
    DeviceBuffer findings;
    // The last one is in use; earlier ones stay, since recorded launches may point to them.
    std::vector<DeviceBuffer> workspaces;

private:
    struct Kernels {
        std::shared_ptr<const LoadedKernel> fill;
        std::shared_ptr<const LoadedKernel> check;
        std::shared_ptr<const LoadedKernel> reference;
        std::shared_ptr<const LoadedKernel> compare;
    };

    template <typename Args>
    void launch(const LoadedKernel& kernel, std::int64_t grid, int threads, const Args& args) const {
        device->launch(kernel, {.grid = std::max<std::int64_t>(grid, 1), .threads = threads}, &args, sizeof args, nullptr);
    }
    // Thread blocks of kernels whose threads loop over the work.
    i64 grid_for(i64 work) const { return std::min<i64>(ceil_div(work, kThreads * 4), 8 * std::max(device->info().sm_count, 1)); }
    void load_kernels(KernelLoader& loader);
    OperandSet make_set(Placing placing) const;
    void choose_rows();
    void compute_reference(DeviceBuffer& sum, DeviceBuffer* magnitude) const;
    bool sums_have_rest() const { return arithmetic.reference == ReferenceSum::two_f64; }
    const double* rest_of(const DeviceBuffer& sums) const {
        return sums_have_rest() ? static_cast<const double*>(sums.data()) + sums.bytes() / sizeof(double) / 2 : nullptr;
    }
    const DeviceBuffer& sum_of(int content) const {
        return content == contents::integers ? integer_sum : content == contents::below_tf32 ? below_tf32_sum : normal_sum;
    }
    // What errors of the plan's results may be, relative to the magnitudes; 0 where results are exact.
    double bound_factor(const ExecutablePlan& plan, int content) const;
    void fill(const MatrixRegion& region, int content, u64 seed) const {
        launch(*kernels.fill, grid_for(region.words), kThreads, FillArgs{.region = region, .content = content, .seed = seed});
    }
    void check_region(const MatrixRegion& region, int content, bool unchanged, u64 seed, std::size_t zones, std::size_t elements) const;
    MatrixRegion workspace_region(std::int64_t bytes) const;
    Verdict judge(const Findings& found, int content, double alpha, double beta) const;
    // What x = alpha * sum + beta * C becomes.
    // value: what a gate is for; x is then the gate's.
    double expected_of(i64 batch, i64 row, i64 column, int content, double x, double value) const;
    std::string element_name(i64 batch, i64 row, i64 column) const;
    std::string word_name(const char* name, const Matrix& matrix, i64 word) const;
    u64 read_word(const MatrixRegion& region, i64 word) const {
        const auto bytes = static_cast<std::size_t>(word_bytes(region));
        const void* const address = static_cast<const unsigned char*>(region.buffer) + word * word_bytes(region);
        // The bytes come first in a little-endian number, whichever width they have.
        u64 bits = 0;
        device->copy_to_host(&bits, address, bytes);
        return bits;
    }

    Kernels kernels;
};

Verifier::State::State(KernelLoader& loader, const GemmProblem& asked, const VerificationOptions& how)
    : device(loader.device()), problem(in_one_piece(asked)), arithmetic(arithmetic_of(asked)), options(how) {
    has_addresses = asked.pointers;
    if (!is_verifiable(problem)) {
        throw Error(ExitStatus::usage, fmt::format("results of {} can't be verified", to_text(asked)), {},
                    "use dtype=f32 with compute=f32, f32_strict or tf32, dtype=f16 or bf16 with compute=f32 and ctype like dtype or f32, "
                    "dtype=f64, or dtype=s8 with ctype=s32");
    }
    alpha = rounded_to(arithmetic.scalar, options.alpha);
    beta = problem.reads_c ? rounded_to(arithmetic.scalar, options.beta) : 0.0;
    load_kernels(loader);
    findings = DeviceBuffer(device, sizeof(Findings));

    sets.push_back(make_set(Placing::odd));
    const i64 timed = std::min<i64>(ceil_div(options.rotation_bytes, sets.front().bytes()), options.max_sets);
    try {
        while (static_cast<i64>(sets.size()) <= timed) sets.push_back(make_set(Placing::allocated));
    } catch (const std::bad_alloc&) {
        // Fewer sets will do, and in the end the one for verification: operands as large as the memory are larger than any cache.
    }

    choose_rows();
    fill_set(0, contents::integers, contents::integers);
    compute_reference(integer_sum, nullptr);
    if (problem.compute == ComputeMode::tf32) {
        fill_set(0, contents::below_tf32, contents::unwritten);
        compute_reference(below_tf32_sum, nullptr);
    }
    for (int set = 0; set < static_cast<int>(sets.size()); ++set) fill_set(set, contents::normal, contents::normal);
    compute_reference(normal_sum, &normal_magnitude);
    device->synchronize();
}

void Verifier::State::load_kernels(KernelLoader& loader) {
    const KernelSource source = make_verify_source();
    const auto load = [&](const char* entry) {
        auto result = loader.load(source, entry);
        if (const auto* failure = std::get_if<CompileFailure>(&result))
            throw Error(ExitStatus::no_compiler, fmt::format("{} does not compile: {}", entry, failure->log));
        return std::get<KernelLoader::Loaded>(std::move(result)).kernel;
    };
    kernels = {.fill = load("tmm_verify_fill"),
               .check = load("tmm_verify_check"),
               .reference = load("tmm_verify_reference"),
               .compare = load("tmm_verify_compare")};
}

OperandSet Verifier::State::make_set(Placing placing) const {
    const GemmProblem& p = problem;
    OperandSet set = {
        .a = make_matrix(device, p.type_a, stored_rows_a(p), stored_columns_a(p), p.lda, p.stride_a, p.batch, p.alignment, placing),
        .b = make_matrix(device, p.type_b, stored_rows_b(p), stored_columns_b(p), p.ldb, p.stride_b, p.batch, p.alignment, placing),
        .c = make_matrix(device, p.type_c, rows_of_c(p), columns_of_c(p), p.ldc, p.stride_c, p.batch, p.alignment, placing),
        .bias = p.bias == BiasAxis::none
                    ? Matrix{}
                    : make_matrix(device, p.type_bias, 1, elements_of_bias(p), elements_of_bias(p), 0, 1, size_of(p.type_bias), placing),
        .residual = !p.residual
                        ? Matrix{}
                        : make_matrix(device, p.type_c, rows_of_c(p), columns_of_c(p), p.ldr, p.stride_r, p.batch, p.alignment, placing),
        .addresses = {}};
    if (!has_addresses || p.batch == 0) return set;
    // The last matrix is the first member, so that who takes them in the order of memory is seen; residuals stand in that order, though.
    const auto place_of = [&](i64 member) { return p.residual ? member : p.batch - 1 - member; };
    std::vector<void*> addresses;
    for (const auto& [matrix, stride] : {std::pair(&set.a, p.stride_a), std::pair(&set.b, p.stride_b), std::pair(&set.c, p.stride_c)})
        for (i64 member = 0; member < p.batch; ++member)
            addresses.push_back(matrix->base + place_of(member) * stride * word_bytes(matrix->region));
    set.addresses = DeviceBuffer(device, addresses.size() * sizeof(void*));
    device->copy_to_device(set.addresses.data(), addresses.data(), set.addresses.bytes());
    return set;
}

GemmCall Verifier::State::call_of(const OperandSet& set) const {
    GemmCall call{.a = set.a.base, .b = set.b.base, .c = set.c.base, .bias = set.bias.base, .residual = set.residual.base};
    if (!has_addresses) return call;
    void** const addresses = static_cast<void**>(set.addresses.data());
    call.a = addresses;
    call.b = addresses + problem.batch;
    call.c = addresses + 2 * problem.batch;
    return call;
}

void Verifier::State::choose_rows() {
    const i64 all_rows = rows_of_c(problem);
    row_count = all_rows;
    // The sums that a row of C takes.
    const i64 wide = products_of_row(problem.activation) * problem.n * problem.batch;
    if (all_rows == 0 || wide == 0) return;
    const double work = static_cast<double>(all_rows) * static_cast<double>(wide) * static_cast<double>(problem.k);
    const i64 rows_kept = std::max<i64>(kReferenceLimit / wide, 1);
    if (work <= options.full_check_limit && all_rows <= rows_kept) return;
    const i64 count = std::min({all_rows, kSampledRows, std::max<i64>(rows_kept, 2)});
    if (count == all_rows) return;
    row_list = sample_rows(all_rows, count, options.seed);
    row_count = count;
    // Behind them come the product's rows that a gate is for.
    std::vector<i64> of_product = row_list;
    if (gates_rows(problem.activation))
        for (const i64 row : row_list) of_product.push_back(all_rows + row);
    rows = DeviceBuffer(device, of_product.size() * sizeof(i64));
    device->copy_to_device(rows.data(), of_product.data(), rows.bytes());
}

void Verifier::State::compute_reference(DeviceBuffer& sum, DeviceBuffer* magnitude) const {
    const GemmProblem& p = problem;
    const i64 rows_of_product = row_count * products_of_row(p.activation);
    const i64 elements = rows_of_product * p.n * p.batch;
    if (elements == 0) return;
    // What the sums lack stands behind them.
    sum = DeviceBuffer(device, static_cast<std::size_t>(elements) * sizeof(double) * (sums_have_rest() ? 2 : 1));
    if (magnitude) *magnitude = DeviceBuffer(device, static_cast<std::size_t>(elements) * sizeof(double));
    ReferenceArgs args = reference_of(p);
    args.a = sets[0].a.base;
    args.b = sets[0].b.base;
    args.rows = static_cast<const i64*>(rows.data());
    args.row_count = rows_of_product;
    args.sum = static_cast<double*>(sum.data());
    if (sums_have_rest()) args.rest = args.sum + elements;
    args.magnitude = magnitude ? static_cast<double*>(magnitude->data()) : nullptr;
    launch(*kernels.reference, reference_blocks(args), kReferenceThreads, args);
}

void Verifier::State::fill_set(int set, int content, int c_content) const {
    const OperandSet& operands = sets[static_cast<std::size_t>(set)];
    fill(operands.a.region, content, seed_of(options.seed, set, 0, content));
    fill(operands.b.region, content, seed_of(options.seed, set, 1, content));
    fill(operands.c.region, c_content, seed_of(options.seed, set, 2, c_content));
    if (operands.bias.base) fill(operands.bias.region, content, seed_of(options.seed, set, 3, content));
    if (operands.residual.base) fill(operands.residual.region, content, seed_of(options.seed, set, 4, content));
}

void* Verifier::State::workspace_of(std::int64_t bytes) {
    if (bytes <= 0) return nullptr;
    const std::size_t needed = static_cast<std::size_t>(bytes + 2 * kGuardBytes);
    if (workspaces.empty() || workspaces.back().bytes() < needed) {
        const std::size_t doubled = workspaces.empty() ? 0 : workspaces.back().bytes() * 2;
        workspaces.emplace_back(device, std::max(needed, doubled));
    }
    return static_cast<unsigned char*>(workspaces.back().data()) + kGuardBytes;
}

MatrixRegion Verifier::State::workspace_region(std::int64_t bytes) const {
    // The workspace is treated as words of the accumulator, whatever it holds.
    const ElementType type = arithmetic.accumulator;
    const i64 word = size_of(type);
    const i64 words = ceil_div(bytes, word);
    return {.buffer = workspaces.back().data(),
            .type = type,
            .words = words + 2 * kGuardBytes / word,
            .first = kGuardBytes / word,
            .span = words,
            .rows = 1,
            .columns = words,
            .ld = words};
}

void Verifier::State::check_region(const MatrixRegion& region, int content, bool unchanged, u64 seed, std::size_t zones,
                                   std::size_t elements) const {
    auto* const slots = static_cast<Finding*>(findings.data());
    launch(*kernels.check, grid_for(region.words), kThreads,
           CheckArgs{.region = region,
                     .content = content,
                     .unchanged = unchanged ? 1 : 0,
                     .seed = seed,
                     .zones = slots + zones,
                     .elements = slots + elements});
}

double Verifier::State::bound_factor(const ExecutablePlan& plan, int content) const {
    switch (content) {
        case contents::integers: return 0;
        case contents::below_tf32: return kCutOffBound;
        default: return (static_cast<double>(longest_rounding_chain(plan.plan())) + 2) * arithmetic.accumulator_roundoff();
    }
}

Verdict Verifier::State::check(const ExecutablePlan& plan, int content, double run_alpha, double run_beta) {
    const OperandSet& set = sets.front();
    const int c_content = run_beta == 0 ? contents::unwritten : content;
    const std::int64_t workspace_bytes = plan.plan().workspace_bytes;
    fill_set(0, content, c_content);
    void* const workspace = workspace_of(workspace_bytes);
    if (workspace) fill(workspace_region(workspace_bytes), contents::unwritten, 0);
    Findings found{};
    device->copy_to_device(findings.data(), found.data(), sizeof found);

    // Operands that must not be read are not even there.
    const bool reads_operands = run_alpha != 0 && problem.k != 0;
    std::deque<PoisonedZones> poisoned;
    if (options.poison_operand_zones && device->info().emulated)
        for (const Matrix* read : {&set.a, &set.b, &set.bias, &set.residual})
            if (read->base) poisoned.emplace_back(read->region);
    GemmCall call = call_of(set);
    if (!reads_operands) call.a = call.b = nullptr;
    call.workspace = workspace;
    call.alpha = run_alpha;
    call.beta = run_beta;
    plan.run(call, nullptr);
    poisoned.clear();

    const i64 elements = row_count * columns_of_c(problem) * problem.batch;
    if (elements > 0) {
        const DeviceBuffer& magnitude = content == contents::below_tf32 ? below_tf32_sum : normal_magnitude;
        launch(*kernels.compare, grid_for(elements), kThreads,
               CompareArgs{.type = problem.type_c,
                           .c = set.c.base,
                           .rows = static_cast<const i64*>(rows.data()),
                           .sum = static_cast<const double*>(sum_of(content).data()),
                           .rest = rest_of(sum_of(content)),
                           .magnitude = static_cast<const double*>(magnitude.data()),
                           .row_count = row_count,
                           .m = rows_of_c(problem),
                           .n = columns_of_c(problem),
                           .batch = problem.batch,
                           .ldc = problem.ldc,
                           .stride_c = problem.stride_c,
                           .result = problem.result,
                           .rounds_result = arithmetic.rounds_result() ? 1 : 0,
                           .alpha = run_alpha,
                           .beta = run_beta,
                           .bound_factor = bound_factor(plan, content),
                           .content = content,
                           .seed = seed_of(options.seed, 0, 2, content),
                           .roundoff = arithmetic.accumulator_roundoff(),
                           .epilogue = {.bias = problem.bias,
                                        .activation = problem.activation,
                                        .residual = problem.residual,
                                        .type_bias = problem.type_bias,
                                        .seed_bias = seed_of(options.seed, 0, 3, content),
                                        .seed_residual = seed_of(options.seed, 0, 4, content),
                                        .ldr = problem.ldr,
                                        .stride_r = problem.stride_r},
                           .finding = static_cast<Finding*>(findings.data()) + slot::compare});
    }
    check_region(set.c.region, c_content, false, 0, slot::c_zones, slot::c_elements);
    check_region(set.a.region, content, true, seed_of(options.seed, 0, 0, content), slot::a_zones, slot::a_elements);
    check_region(set.b.region, content, true, seed_of(options.seed, 0, 1, content), slot::b_zones, slot::b_elements);
    if (set.bias.base)
        check_region(set.bias.region, content, true, seed_of(options.seed, 0, 3, content), slot::bias_zones, slot::bias_elements);
    if (set.residual.base)
        check_region(set.residual.region, content, true, seed_of(options.seed, 0, 4, content), slot::residual_zones,
                     slot::residual_elements);
    if (workspace)
        check_region(workspace_region(workspace_bytes), contents::unwritten, false, 0, slot::workspace_zones, slot::workspace_elements);
    device->copy_to_host(found.data(), findings.data(), sizeof found);
    return judge(found, content, run_alpha, run_beta);
}

Verdict Verifier::State::judge(const Findings& found, int content, double run_alpha, double run_beta) const {
    const Matrix& c = sets.front().c;
    Verdict verdict;
    if (content != contents::integers) verdict.error_ratio = std::bit_cast<double>(found[slot::compare].worst_ratio_bits);
    const std::string run = fmt::format("({}, alpha {}, beta {})", content_name(content), run_alpha, run_beta);

    if (const Finding& wrong = found[slot::compare]; wrong.count > 0) {
        const auto index = static_cast<i64>(wrong.first);
        const i64 columns = columns_of_c(problem);
        const i64 batch = index / (row_count * columns);
        const i64 place = index / columns % row_count;
        const i64 row = row_list.empty() ? place : row_list[static_cast<std::size_t>(place)];
        const i64 column = index % columns;
        const i64 offset = batch * problem.stride_c + row * problem.ldc + column;
        const u64 bits = read_word(c.region, c.region.first + offset);
        const double value = decoded(c.region.type, bits);
        double sum[2] = {};
        const DeviceBuffer& sums = sum_of(content);
        const bool of_rows = gates_rows(problem.activation);
        const i64 first_sum = (batch * row_count * products_of_row(problem.activation) + place) * problem.n + column;
        const i64 apart = of_rows ? row_count * problem.n : columns;
        for (i64 i = 0; i < (is_gate(problem.activation) ? 2 : 1); ++i)
            device->copy_to_host(&sum[i], static_cast<const double*>(sums.data()) + first_sum + i * apart, sizeof sum[i]);
        const double before = run_beta == 0 ? 0.0 : content_value(problem.type_c, content, seed_of(options.seed, 0, 2, content), offset);
        // Floats have 9 decimal digits, and whole numbers of 32 bits 10.
        const int digits = format_of(problem.type_c).is_integer ? 10 : 9;
        const std::string element = element_name(batch, row, column);
        const std::string share = fmt::format("{} of {} checked elements", wrong.count, row_count * columns * problem.batch);
        const bool is_rounded = content != contents::integers && !format_of(problem.type_c).is_integer;
        if (!is_computed(problem.result, row, column)) {
            verdict.outcome = Outcome::wrong_result;
            verdict.detail = fmt::format(
                "{} = {:.{}g} {}; {} are wrong {}", element, value, digits,
                problem.result == Result::symmetric ? "is not what its mirror image is" : "was written, or changed", share, run);
            return verdict;
        }
        verdict.outcome = is_rounded && std::isfinite(value) ? Outcome::inaccurate : Outcome::wrong_result;
        if (bits == format_of(problem.type_c).unwritten) {
            // Arithmetic on a CPU hands the NaN's bits on.
            verdict.detail = fmt::format("{} was not written, or read before; {} are wrong {}", element, share, run);
        } else if (verdict.outcome == Outcome::inaccurate) {
            verdict.detail = fmt::format("{} = {:.9g} breaks the error bound, worst {:.3g} times over; {} do {}", element, value,
                                         verdict.error_ratio, share, run);
        } else {
            const double x = format_of(problem.type_c).is_integer
                                 ? decoded(problem.type_c, wrapped_sum(run_alpha, sum[0], run_beta, before))
                                 : run_alpha * sum[0] + run_beta * before;
            verdict.detail = fmt::format("{} = {:.{}g}, expected {:.{}g}; {} differ {}", element, value, digits,
                                         expected_of(batch, row, column, content, x, run_alpha * sum[1]), digits, share, run);
        }
        return verdict;
    }

    const auto fail = [&](std::string what) {
        verdict.outcome = Outcome::wrong_result;
        verdict.detail = fmt::format("{} {}", what, run);
    };
    const auto zone = [&](const char* name, const Matrix& matrix, std::size_t zones) {
        if (verdict.outcome == Outcome::ok && found[zones].count > 0)
            fail(fmt::format("{} changed", word_name(name, matrix, static_cast<i64>(found[zones].first))));
    };
    const auto operand = [&](const char* name, const Matrix& matrix, std::size_t elements) {
        if (verdict.outcome == Outcome::ok && found[elements].count > 0)
            fail(fmt::format("{} changed, which is only read", word_name(name, matrix, static_cast<i64>(found[elements].first))));
    };
    zone("C", c, slot::c_zones);
    // What is not wanted of C stays as it was.
    const bool has_all = problem.result == Result::full || problem.result == Result::symmetric;
    if (verdict.outcome == Outcome::ok && has_all && found[slot::c_elements].count > 0) {
        const auto word = static_cast<i64>(found[slot::c_elements].first);
        const u64 bits = read_word(c.region, word);
        fail(fmt::format("{} {}", word_name("C", c, word),
                         bits == format_of(problem.type_c).unwritten ? "was not written" : "is not finite"));
    }
    zone("A", sets.front().a, slot::a_zones);
    operand("A", sets.front().a, slot::a_elements);
    zone("B", sets.front().b, slot::b_zones);
    operand("B", sets.front().b, slot::b_elements);
    zone("the bias", sets.front().bias, slot::bias_zones);
    operand("the bias", sets.front().bias, slot::bias_elements);
    zone("the residual", sets.front().residual, slot::residual_zones);
    operand("the residual", sets.front().residual, slot::residual_elements);
    if (verdict.outcome == Outcome::ok && found[slot::workspace_zones].count > 0)
        fail(fmt::format(
            "guard zone {} the workspace changed",
            static_cast<i64>(found[slot::workspace_zones].first) < kGuardBytes / size_of(arithmetic.accumulator) ? "before" : "behind"));
    return verdict;
}

double Verifier::State::expected_of(i64 batch, i64 row, i64 column, int content, double x, double value) const {
    const GemmProblem& p = problem;
    const auto element = [&](ElementType type, int matrix, i64 offset) {
        return content_value(type, content, seed_of(options.seed, 0, matrix, content), offset);
    };
    if (p.bias != BiasAxis::none) {
        x += element(p.type_bias, 3, p.bias == BiasAxis::rows ? row : column);
        const i64 row_of_value = gates_rows(p.activation) ? rows_of_c(p) + row : row;
        const i64 column_of_value = gates_columns(p.activation) ? columns_of_c(p) + column : column;
        value += element(p.type_bias, 3, p.bias == BiasAxis::rows ? row_of_value : column_of_value);
    }
    x = is_gate(p.activation) ? gated_in_double(x, value) : activated_in_double(p.activation, x);
    return p.residual ? x + element(p.type_c, 4, batch * p.stride_r + row * p.ldr + column) : x;
}

std::string Verifier::State::element_name(i64 batch, i64 row, i64 column) const {
    return problem.batch > 1 ? fmt::format("C[batch {}][{}][{}]", batch, row, column) : fmt::format("C[{}][{}]", row, column);
}

// "guard zone before C", "padding of C behind row 3", "C[3][4]".
std::string Verifier::State::word_name(const char* name, const Matrix& matrix, i64 word) const {
    const MatrixRegion& region = matrix.region;
    const i64 offset = word - region.first;
    if (offset < 0) return fmt::format("guard zone before {} ({} elements before its first)", name, -offset);
    if (offset >= region.span) return fmt::format("guard zone behind {} ({} elements behind its last)", name, offset - region.span + 1);
    const bool batched = region.stride > 0 && region.batch > 1;
    const auto matrix_name = [&](i64 member) { return batched ? fmt::format("{}[batch {}]", name, member) : std::string(name); };
    if (holds_element(region, offset)) {
        for (i64 member = 0; member < region.batch; ++member) {
            const i64 within = offset - member * region.stride;
            if (within < 0 || within / region.ld >= region.rows || within % region.ld >= region.columns) continue;
            return fmt::format("{}[{}][{}]", matrix_name(member), within / region.ld, within % region.ld);
        }
    }
    if (batched && region.stride < (region.rows - 1) * region.ld + region.columns)
        return fmt::format("space between the rows of {} ({} elements behind its first)", name, offset);
    const i64 member = batched ? offset / region.stride : 0;
    const i64 within = batched ? offset % region.stride : offset;
    if (within / region.ld >= region.rows) return fmt::format("space behind {}", matrix_name(member));
    return fmt::format("padding of {} behind row {} (column {} of {})", matrix_name(member), within / region.ld, within % region.ld,
                       region.columns);
}

Verifier::Verifier(KernelLoader& loader, const GemmProblem& problem, const VerificationOptions& options)
    : state_(std::make_unique<State>(loader, problem, options)) {}

Verifier::~Verifier() = default;

Verdict Verifier::verify(const ExecutablePlan& plan) {
    State& s = *state_;
    const double alpha = small_integer(s.alpha);
    const double beta = small_integer(s.beta);
    Verdict verdict = s.check(plan, contents::integers, alpha, beta);
    // The same kernel takes beta = 0, and then may not read C.
    if (verdict.outcome == Outcome::ok && beta != 0) verdict = s.check(plan, contents::integers, alpha, 0);
    // Errors of normal values cancel, so that cut off operands stay far within a bound that holds for all values.
    if (verdict.outcome == Outcome::ok && s.problem.compute == ComputeMode::tf32) verdict = s.check(plan, contents::below_tf32, 1, 0);
    if (verdict.outcome == Outcome::ok) return verify_again(plan);
    // Set 0 serves the timing of others.
    s.fill_set(0, contents::normal, contents::normal);
    return verdict;
}

Verdict Verifier::verify_again(const ExecutablePlan& plan) {
    State& s = *state_;
    Verdict verdict = s.check(plan, contents::normal, s.alpha, s.beta);
    s.fill_set(0, contents::normal, contents::normal);
    return verdict;
}

int Verifier::rotation_sets() const {
    return std::max(static_cast<int>(state_->sets.size()) - 1, 1);
}

GemmCall Verifier::timing_call(int set, std::int64_t workspace_bytes) {
    State& s = *state_;
    const OperandSet& operands = s.sets.size() == 1 ? s.sets.front() : s.sets.at(static_cast<std::size_t>(set) + 1);
    GemmCall call = s.call_of(operands);
    call.workspace = s.workspace_of(workspace_bytes);
    call.alpha = s.alpha;
    call.beta = s.beta;
    return call;
}

}  // namespace tmm
