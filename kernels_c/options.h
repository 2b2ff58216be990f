/*
 * The options of every C kernel, and its messages about wrong ones.
 *
 * Exit status: 0 it has measured, 1 something failed while measuring, 2 an option is wrong, 3 this
 * machine cannot do it. Every message is one line: what, where, and what to do.
 */
#ifndef TICKLAB_OPTIONS_H
#define TICKLAB_OPTIONS_H

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_IMPOSSIBLE = 3 };

enum {
    MAX_BATCHES = 32,
    MAX_VARIANTS = 64,
    MAX_SAMPLES = 10000000,
    MAX_WARMUP = 1000000,
    NOT_PINNED = -1,
    NOT_ASKED = -1
};

struct options {
    char variants[1024]; /* names, separated by commas; empty: the first one */
    long samples;        /* per variant, over all batch sizes */
    long warmup;         /* samples before them, per variant, with numbers below 0; or NOT_ASKED */
    long batch[MAX_BATCHES];
    int batches;
    long cpu;
    long peer_cpu;
    long begin_on; /* the CPU to begin on without being bound to it; NOT_PINNED: the OS chooses */
    uint64_t seed; /* 0: choose one */
    long stack_place;  /* during the samples, modulo 4096; NOT_ASKED: where the OS puts it */
    long end_with;     /* process id of the parent to end with; 0: none */
    const char *event; /* count this event in place of time; NULL: none */
    int list;
};

/* --place anywhere: tasks that belong on one CPU may be wherever the OS puts them. */
static int place_anywhere;

__attribute__((noreturn, format(printf, 2, 3))) static void stop(int status, const char *format,
                                                                 ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    exit(status);
}

static long number_option(const char *name, const char *text, long least, long most)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno == ERANGE || value < least || value > most)
        stop(STATUS_USAGE, "--%s %s: give a whole number from %ld to %ld", name, text, least, most);
    return value;
}

static void batch_option(struct options *options, const char *text)
{
    char copy[1024];
    if (strlen(text) >= sizeof copy)
        stop(STATUS_USAGE, "--batch: the list is longer than %zu characters", sizeof copy - 1);
    strcpy(copy, text);
    options->batches = 0;
    char *rest = copy;
    for (char *item = strsep(&rest, ","); item != NULL; item = strsep(&rest, ",")) {
        if (options->batches == MAX_BATCHES)
            stop(STATUS_USAGE, "--batch %s: at most %d batch sizes", text, MAX_BATCHES);
        const long size = number_option("batch", item, 0, 1000000000);
        for (int i = 0; i < options->batches; i++)
            if (options->batch[i] == size)
                stop(STATUS_USAGE, "--batch %s: %ld stands there twice", text, size);
        options->batch[options->batches++] = size;
    }
}

static void print_help(const char *program, const char *about)
{
    printf("%s: %s\n"
           "usage: %s [--variant A,B] [--samples N] [--batch K,...] [--warmup N] [--cpu N]\n"
           "       [--peer-cpu N] [--begin-on N] [--place anywhere] [--stack-place N]\n"
           "       [--seed N] [--end-with PID] [--count EVENT] [--list]\n"
           "Prints conditions as '# key: value' and then one line per sample, as CSV.\n",
           program, about, program);
}

/* Read the command line into `options`, which hold the defaults before the call. */
static void read_options(struct options *options, int argc, char **argv, const char *about)
{
    static const struct option names[] = {{"variant", required_argument, NULL, 'v'},
                                          {"samples", required_argument, NULL, 'n'},
                                          {"batch", required_argument, NULL, 'k'},
                                          {"warmup", required_argument, NULL, 'w'},
                                          {"cpu", required_argument, NULL, 'c'},
                                          {"peer-cpu", required_argument, NULL, 'p'},
                                          {"place", required_argument, NULL, 'a'},
                                          {"stack-place", required_argument, NULL, 't'},
                                          {"begin-on", required_argument, NULL, 'b'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"end-with", required_argument, NULL, 'e'},
                                          {"count", required_argument, NULL, 'x'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int choice;
    opterr = 0; /* we print a message of our own, and getopt none */
    while ((choice = getopt_long(argc, argv, ":", names, NULL)) != -1) {
        switch (choice) {
        case 'v':
            if (strlen(optarg) >= sizeof options->variants)
                stop(STATUS_USAGE, "--variant: the list is too long");
            strcpy(options->variants, optarg);
            break;
        case 'n': options->samples = number_option("samples", optarg, 1, MAX_SAMPLES); break;
        case 'k': batch_option(options, optarg); break;
        case 'w': options->warmup = number_option("warmup", optarg, 0, MAX_WARMUP); break;
        case 'c': options->cpu = number_option("cpu", optarg, 0, 1023); break;
        case 'p': options->peer_cpu = number_option("peer-cpu", optarg, 0, 1023); break;
        case 'b': options->begin_on = number_option("begin-on", optarg, 0, 1023); break;
        case 'a':
            if (strcmp(optarg, "anywhere") != 0)
                stop(STATUS_USAGE, "--place %s: the only choice is anywhere", optarg);
            place_anywhere = 1;
            break;
        case 't': options->stack_place = number_option("stack-place", optarg, 0, 4095); break;
        case 's': options->seed = (uint64_t)number_option("seed", optarg, 1, INT32_MAX); break;
        case 'e': options->end_with = number_option("end-with", optarg, 1, INT32_MAX); break;
        case 'x': options->event = optarg; break;
        case 'l': options->list = 1; break;
        case 'h': print_help(argv[0], about); exit(0);
        case ':':
            stop(STATUS_USAGE, "%s: give a value; %s --help lists the options", argv[optind - 1],
                 argv[0]);
        default:
            stop(STATUS_USAGE, "%s: not an option; %s --help lists them", argv[optind - 1],
                 argv[0]);
        }
    }
    if (optind < argc)
        stop(STATUS_USAGE, "%s: not an option; %s --help lists them", argv[optind], argv[0]);
    if (place_anywhere && (options->cpu != NOT_PINNED || options->peer_cpu != NOT_PINNED))
        stop(STATUS_USAGE, "--place anywhere: leave --cpu and --peer-cpu out");
}

#endif
