/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - runs a fuzz target on files, and on changed copies of them, without a fuzzer.
 *
 *     fuzz_TARGET [--changes N] [--seed S] FILE...
 *
 * Each file is given to the target as it is, then N times with a few bytes changed, cut or
 * repeated; the changes depend only on the seed. Files beginning with '.' are skipped. A finding
 * ends the process and leaves its input in ./finding.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include <toe/number.h>

#include "fuzz.h"

#define MOST 65536

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

static uint8_t now[MOST];
static size_t now_size;
static uint64_t state;

static uint32_t any(uint32_t below) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

static void keep(int signal_number)
{
    int fd = open("finding", O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd >= 0) {
        (void)!write(fd, now, now_size);
        close(fd);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void change(void)
{
    static const uint8_t edges[] = {0, 1, 2, 4, 8, 20, 40, 60, 127, 128, 254, 255};
    uint32_t n = 1 + any(6), at, len;

    while (n-- && now_size) {
        at = any((uint32_t)now_size);
        switch (any(6)) {
        case 0:
            now[at] = (uint8_t)any(256);
            break;
        case 1:
            now[at] ^= (uint8_t)(1u << any(8));
            break;
        case 2:
            now[at] = edges[any(sizeof(edges))];
            break;
        case 3: /* cut out */
            len = 1 + any(8);
            if (at + len > now_size)
                len = (uint32_t)now_size - at;
            memmove(now + at, now + at + len, now_size - at - len);
            now_size -= len;
            break;
        case 4: /* repeat */
            len = 1 + any(16);
            if (at + len > now_size)
                len = (uint32_t)now_size - at;
            if (now_size + len > MOST)
                break;
            memmove(now + at + len, now + at, now_size - at);
            now_size += len;
            break;
        default:
            now[at] = (uint8_t)(now[at] + any(9) - 4);
        }
    }
}

static void run(void)
{
    uint8_t *exact = fuzz_exact(now, now_size);

    LLVMFuzzerTestOneInput(exact, now_size);
    free(exact);
}

static int run_file(const char *name, uint64_t changes)
{
    static uint8_t file[MOST];
    FILE *f = fopen(name, "rb");
    size_t n;

    if (!f) {
        perror(name);
        return -1;
    }
    n = fread(file, 1, sizeof(file), f);
    fclose(f);
    for (uint64_t i = 0; i <= changes; i++) {
        memcpy(now, file, n);
        now_size = n;
        if (i)
            change();
        run();
    }
    return 0;
}

/* Returns the value of an option; ends the program if it is not a number. */
static uint64_t number(const char *option, const char *text)
{
    char want[TOE_NUMBER_WANT];
    uint64_t v;

    if (toe_number(text, 0, UINT32_MAX, &v, want, sizeof(want)))
        return v;
    fprintf(stderr, "%s %s is not %s\n", option, text, want);
    exit(2);
}

int main(int argc, char **argv)
{
    uint64_t changes = 0, seed = 1, files = 0;
    int i;

    signal(SIGABRT, keep);
    signal(SIGSEGV, keep);
    LLVMFuzzerInitialize(&argc, &argv);
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--changes") == 0 && i + 1 < argc) {
            changes = number("--changes", argv[++i]);
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = number("--seed", argv[++i]);
        } else {
            state = seed + files++;
            if (run_file(argv[i], changes))
                return 2;
        }
    }
    if (!files) {
        fprintf(stderr, "usage: %s [--changes N] [--seed S] FILE...\n", argv[0]);
        return 2;
    }
    printf("%" PRIu64 " files, %" PRIu64 " inputs\n", files, files * (changes + 1));
    return 0;
}
