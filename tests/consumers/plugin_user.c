int plugin_multiply(float* c);

int main(void) {
    float c[4] = {0, 0, 0, 0};
    return plugin_multiply(c) == 0 && c[0] == 1 && c[1] == 2 && c[2] == 3 && c[3] == 4 ? 0 : 1;
}
