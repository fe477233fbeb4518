// Measures how accurate results are: two of them are compared element by element, and one with the exact product.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/accuracy/exact_product.h"
#include "bench/operands/operands.h"

namespace tmm::bench {

// The largest error that a result may have before it is rounded to the type of C, relative to |alpha| |A| |B| + |beta| |C|, however it was
// summed; u = 2^-24, and 2^-53 where sums are of f64.
// f32 and f64 operands: (k + 4) u. k roundings of products and sums (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), those of
// alpha, beta and their sum, and one for what is not of first order.
// 16-bit operands and tf32: (5/2 k + 4) u. A tensor core aligns the products of one step and the sum so far to the largest of them
// and cuts off what is below (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, PeerJ CS, 2021): each of
// the s + 1 terms loses less than 2 u, k / s times, with s of 4 at least.
// tf32: besides, 2^-11 for each operand, which is rounded to the nearest number with 10 bits of fraction.
// Rounding to a 16-bit C is allowed on top: its unit roundoff times the value, half the type's smallest number at least. That to a C
// as wide as the sums is counted above.
double accumulation_bound(const GemmProblem& problem);

// The difference between two results.
struct Difference {
    // The largest |x - y| / (2 accumulation_bound scale + rounding of C), where x has the type of C, y that of the sums, and scale is
    // |alpha| |A| |B| + |beta| |C|. It is infinite where one is a NaN and the other is not. Where it is at most 1, they agree. With an
    // epilogue, it is applied to y in double precision first, and its own error is allowed too.
    double ratio = 0;
    // "C[3][17]: tmm 4, peer 5": the place of the largest.
    std::string where;
};
// theirs and scale lie as plain_product() says.
Difference compare(const GemmProblem& problem, const std::vector<double>& ours, const std::vector<double>& theirs,
                   const std::vector<double>& scale, const ExactEpilogue& epilogue = {});

struct Accuracy {
    // ||C - exact|| / ||exact|| in the Frobenius norm over the checked elements; infinite where something is not finite.
    double error = 0;
    // The largest |C - exact| / (accumulation_bound scale + rounding of C), and where: "C[3][17]: 4, exactly 5". With an epilogue, its
    // error is allowed too.
    double ratio = 0;
    std::string where;
};

// The exact result of a set's first values, in double precision, or twice that where sums are of f64, in some rows and columns of C: all of
// them where that takes at most most_products multiplications, else evenly spread ones, the first and the last among them.
class Reference {
public:
    static constexpr std::int64_t kMostProducts = 1 << 27;
    Reference(const Operands& operands, int set, std::int64_t most_products = kMostProducts);

    // Elements of C that are checked.
    std::int64_t elements() const;
    // c is as Operands::result() gives it.
    Accuracy judge(const std::vector<double>& c) const;

private:
    template <class Sum>
    void multiply(const Operands& operands, int set, std::size_t batch);

    GemmProblem problem_;
    std::vector<i64> batches_;
    std::vector<i64> rows_;
    std::vector<i64> columns_;
    // The exact value of each checked element, columns innermost, and how far off a result may be.
    std::vector<Bounded> exact_;
};

}  // namespace tmm::bench
