// Sums of products in more than the precision that they judge, for kernels and the host alike. Host code includes <cmath> before this.
#pragma once

namespace tmm {

// The reference's sum of products, which must be wider than what it judges: products of two floats are exact in a double.
struct SumOfDoubles {
    double value = 0;
    void add(double x, double y) { value += x * y; }
    double rest() const { return 0; }
};

// A number as the sum of two doubles, the second of which is no more than half of the first one's last place, or near it.
struct TwoDoubles {
    double value = 0;
    double lost = 0;
};
// a + b and a * b, exactly (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B; Dekker's product by an FMA).
inline TwoDoubles exact_sum(double a, double b) {
    const double sum = a + b;
    const double of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}
inline TwoDoubles exact_product(double a, double b) {
    const double product = a * b;
    return {product, fma(a, b, -product)};
}

// Products of doubles, summed as if in twice their precision (Ogita, Rump, Oishi: Accurate Sum and Dot Product, SIAM J. Sci. Comput. 26,
// 2005, algorithm 5.3).
struct SumOfTwoDoubles {
    double value = 0;
    double lost = 0;
    void add(double x, double y) {
        const TwoDoubles product = exact_product(x, y);
        const TwoDoubles sum = exact_sum(value, product.value);
        value = sum.value;
        lost += sum.lost + product.lost;
    }
    double rest() const { return lost; }
};

}  // namespace tmm
