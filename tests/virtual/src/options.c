/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - packetdrill gives a shared object its --so_flags alone. The MTU, which it sets on the
 * device of a kernel, is read from where packetdrill reads it: the command line of this process,
 * and the option lines at the beginning of the script.
 */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <toe/number.h>

#include "options.h"

#define OPTION  "--mtu"
#define MTU_MIN 68 /* RFC 791 */
#define MTU_MAX 65535
#define TEXT    65536

/* Reads a file, at most size - 1 bytes, and ends it by 0. Returns the length; 0: none. */
static size_t read_file(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t r = 0;

    while (fd >= 0 && n < size - 1 && (r = read(fd, out + n, size - 1 - n)) > 0)
        n += (size_t)r;
    if (fd >= 0)
        close(fd);
    out[n] = 0;
    return n;
}

static unsigned number(const char *text)
{
    uint64_t x;

    return text && toe_number_c(text, MTU_MIN, MTU_MAX, &x, NULL, 0) ? (unsigned)x : 0;
}

/* The value in "--mtu=VALUE", or in the word after "--mtu". NULL: it is another word. */
static const char *value_of(const char *word, const char *next)
{
    size_t n = strlen(OPTION);

    if (strncmp(word, OPTION, n) != 0 || (word[n] && word[n] != '='))
        return NULL;
    return word[n] ? word + n + 1 : next;
}

/* Ends the comment that begins at p, if one does, and white space. */
static char *skip(char *p)
{
    for (;;) {
        char *end;

        while (isspace((unsigned char)*p))
            p++;
        if (strncmp(p, "/*", 2) == 0) {
            end = strstr(p, "*/");
            p = end ? end + 2 : strchr(p, 0);
        } else if (*p == '#' || strncmp(p, "//", 2) == 0) {
            p += strcspn(p, "\n");
        } else {
            return p;
        }
    }
}

/* The options of a script come before everything else. */
static unsigned mtu_of_script(const char *path)
{
    static char text[TEXT];
    unsigned mtu = 0;
    char *p = text;

    read_file(path, text, sizeof(text));
    while (strncmp(p = skip(p), "--", 2) == 0) {
        size_t n = strcspn(p, " \t\r\n");
        int last = !p[n];
        const char *value;

        p[n] = 0;
        value = value_of(p, NULL);
        mtu = value ? number(value) : mtu;
        if (last)
            break;
        p += n + 1;
    }
    return mtu;
}

static int is_script(const char *word)
{
    size_t n = strlen(word);

    return n > 4 && strcmp(word + n - 4, ".pkt") == 0;
}

unsigned options_mtu(const char *cmdline)
{
    static char words[TEXT];
    size_t n = read_file(cmdline, words, sizeof(words));
    const char *word, *script = NULL;
    unsigned mtu = 0, scripts = 0;

    for (word = words; word < words + n; word = strchr(word, 0) + 1) {
        const char *next = strchr(word, 0) + 1, *value;

        value = value_of(word, next < words + n ? next : NULL);
        if (value)
            mtu = number(value);
        if (is_script(word)) {
            script = word;
            scripts++;
        }
    }
    if (!mtu && scripts == 1) /* of several, the one that runs is not known */
        mtu = mtu_of_script(script);
    return mtu;
}
