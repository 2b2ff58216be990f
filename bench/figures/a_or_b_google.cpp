/* The ten operations of a_or_b.c in google/benchmark, so many a turn. */
#include <benchmark/benchmark.h>

#include <cstdint>

extern "C" {
int operations(void);
const char *operation_name(int which);
std::uint64_t batch_of(int which, long operations);
}

int main(int argc, char **argv)
{
    for (int which = 0; which < operations(); which++)
        benchmark::RegisterBenchmark(operation_name(which), [which](benchmark::State &state) {
            batch_of(which, 1);
            for (auto _ : state)
                benchmark::DoNotOptimize(batch_of(which, 32));
        });
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
