/* The five questions in nanobench, as its tutorial writes a benchmark. Prints one line of JSON. */
#define ANKERL_NANOBENCH_IMPLEMENT
#include <nanobench.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include "operations.hpp"

template <void operation()> static void measure(const std::string &name, const char *epochs)
{
    ankerl::nanobench::Bench bench;
    bench.output(nullptr).epochs(std::strtoul(epochs, nullptr, 10)).run(name, [] { operation(); });
    bench.render("{{#result}}{\"seconds\": {{median(elapsed)}}, "
                 "\"error\": {{medianAbsolutePercentError(elapsed)}}}\n{{/result}}",
                 std::cout);
}

int main(int argc, char **argv)
{
    const std::string name = argc == 3 ? argv[1] : "";
    if (name == "malloc_free") {
        measure<operations::malloc_free>(name, argv[2]);
    } else if (name == "alone") {
        measure<operations::increment_alone>(name, argv[2]);
    } else if (name == "contended") {
        const operations::Other other;
        measure<operations::increment_contended>(name, argv[2]);
        std::printf("{\"others\": %g}\n", other.for_each_own());
    } else if (name == "kill_self") {
        operations::take_signals();
        measure<operations::signal_self>(name, argv[2]);
    } else if (name == "memcpy_4k") {
        measure<operations::copy>(name, argv[2]);
    } else if (name == "one_thread") {
        measure<operations::lock_unlock>(name, argv[2]);
    } else if (name == "with_threads") {
        operations::create_thread();
        measure<operations::lock_unlock>(name, argv[2]);
    } else {
        std::fprintf(stderr, "usage: nanobench NAME EPOCHS\n");
        return 2;
    }
    return 0;
}
