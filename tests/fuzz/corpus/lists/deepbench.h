// Vector saves m, n, k, a_t, b_t
std::vector<std::tuple<int, int, int, bool, bool>> training_set = {
    std::make_tuple(1760, 16, 1761, false, false),
    // std::make_tuple(9, 9, 9, false, false),
    std::make_tuple(1760, 16, 1761, true, false), std::make_tuple(5, 6, 7, false, true),
    std::make_tuple(1760, 16, 1761, true, false, 0.9),
    std::make_tuple(1760, 16, 17
};
