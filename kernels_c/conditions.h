/*
 * The conditions of a run: where it ran, and what the OS did to it meanwhile.
 */
#ifndef TICKLAB_CONDITIONS_H
#define TICKLAB_CONDITIONS_H

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__linux__)
#    include <linux/seccomp.h>
#    include <sys/prctl.h>
#    include <sys/syscall.h>
#endif
#if defined(__GLIBC__)
#    include <gnu/libc-version.h>
#    if !defined(__USE_GNU)
#        error "write #define _GNU_SOURCE above the first #include of this C kernel"
#    endif
#endif

#include "options.h"
#include "pinning.h"

/* How system calls are made here; NULL: by the trap instruction (trap.h). */
static const char *calls_go_by;

/* End this process when its parent ends: then nobody reads the samples any more. */
static void end_with_parent(long parent)
{
    if (parent == 0)
        return;
#if defined(__linux__)
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        stop(STATUS_FAILED, "--end-with %ld: %s", parent, strerror(errno));
#endif
    if (getppid() != (pid_t)parent)
        stop(STATUS_FAILED, "--end-with %ld: that is not the parent of this process", parent);
}

/* Whether a filter decides which system calls this process may make, as in many containers. */
static int is_filtered(void)
{
#if defined(__linux__)
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
#else
    return 0;
#endif
}

/* How the OS schedules this process, as it was started. A variant may change that for its tasks. */
struct scheduling {
    long policy; /* below 0: unknown */
    int nice;
};

static struct scheduling scheduling_now(void)
{
    struct scheduling found = {.policy = -1, .nice = getpriority(PRIO_PROCESS, 0)};
#if defined(__linux__)
    found.policy = syscall(SYS_sched_getscheduler, 0); /* musl's function always fails */
#endif
    return found;
}

static void print_scheduling(struct scheduling found)
{
    static const char *const policies[] = {"OTHER", "FIFO", "RR",       "BATCH",
                                           "ISO",   "IDLE", "DEADLINE", "EXT"};
    const long policy = found.policy & 0x3fffffff; /* without SCHED_RESET_ON_FORK */
    if (found.policy >= 0 && policy < (long)(sizeof policies / sizeof policies[0]))
        printf("# scheduling.policy: SCHED_%s\n", policies[policy]);
    printf("# scheduling.nice: %d\n", found.nice);
}

/* Print the names of libraries, without their folders: these may hold the name of a user. */
static void print_preloaded(const char *by, const char *paths)
{
    int left = 400; /* characters */
    char *const copy = strdup(paths != NULL ? paths : ""), *rest = copy;
    for (char *path = strsep(&rest, " \t\n:"); path != NULL; path = strsep(&rest, " \t\n:")) {
        const char *folder = strrchr(path, '/'), *name = folder != NULL ? folder + 1 : path;
        if (*name == '\0' || left <= 0)
            continue;
        if (left == 400)
            printf("# preloaded.%s:", by);
        putchar(' ');
        for (left--; *name != '\0' && left > 0; name++, left--)
            putchar(*name > ' ' && *name <= '~' ? *name : '?');
    }
    if (left < 400)
        putchar('\n');
    free(copy);
}

/* Print which libraries were put before the C library: they may replace what is timed. */
static void print_all_preloaded(void)
{
    char of_all[4096] = "";
    FILE *file = fopen("/etc/ld.so.preload", "r");
    if (file != NULL) {
        of_all[fread(of_all, 1, sizeof of_all - 1, file)] = '\0';
        fclose(file);
    }
    print_preloaded("ld_so_preload", of_all);
    print_preloaded("ld_preload", getenv("LD_PRELOAD"));
    print_preloaded("ld_audit", getenv("LD_AUDIT"));
}

static struct rusage usage_of(int whom)
{
    struct rusage usage;
    if (getrusage(whom, &usage) != 0)
        stop(STATUS_IMPOSSIBLE, "the OS does not say what it counted: getrusage: %s",
             strerror(errno));
    return usage;
}

/* Print what the OS counted for one task between two readings. Switches are left out on an OS
 * that does not count them. */
static void print_os_counters(const char *task, struct rusage before, struct rusage after,
                              long migrations, int switches_counted)
{
    if (switches_counted) {
        printf("# task.%s.voluntary_switches: %ld\n", task, after.ru_nvcsw - before.ru_nvcsw);
        printf("# task.%s.involuntary_switches: %ld\n", task, after.ru_nivcsw - before.ru_nivcsw);
    }
    printf("# task.%s.minor_faults: %ld\n", task, after.ru_minflt - before.ru_minflt);
    printf("# task.%s.major_faults: %ld\n", task, after.ru_majflt - before.ru_majflt);
    if (migrations >= 0) /* unknown for tasks that cannot be asked between samples */
        printf("# task.%s.migrations: %ld\n", task, migrations);
}

/* Print how much memory of this process is resident, on systems that offer that number. */
static void print_memory(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return;
    const int found = fscanf(file, "%ld %ld", &size, &resident);
    if (fclose(file) == 0 && found == 2)
        printf("# memory.resident_kb: %ld\n", resident * (sysconf(_SC_PAGESIZE) / 1024));
}

static void print_platform(void)
{
    struct utsname name;
    if (uname(&name) != 0)
        stop(STATUS_FAILED, "uname: %s", strerror(errno));
    printf("# os: %s %s %s\n", name.sysname, name.release, name.machine);
#if defined(__GLIBC__)
    printf("# libc: glibc %s\n", gnu_get_libc_version());
#else
    printf("# libc: not glibc\n");
#endif
    printf("# compiler.version: %s\n", __VERSION__);
    if (calls_go_by != NULL)
        printf("# system_calls.by: %s\n", calls_go_by);
}

#endif
