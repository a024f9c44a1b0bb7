/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - parses and checks the values of settings (toe/config.h). */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <toe/config.h>
#include <toe/number.h>

bool config_word_in(const char *words, const char *word, size_t len)
{
    size_t n;

    for (; words; words = words[n] ? words + n + 1 : NULL) {
        n = strcspn(words, "|");
        if (n == len && memcmp(words, word, n) == 0)
            return true;
    }
    return false;
}

int config_flag(const char *text)
{
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
        return 1;
    return strcmp(text, "false") == 0 || strcmp(text, "0") == 0 ? 0 : -1;
}

/* ---- addresses ---- */

static void describe(char *want, size_t want_size, const char *text)
{
    if (want)
        snprintf(want, want_size, "%s", text);
}

/* Splits "ADDRESS/LEN". Returns false when there is no "/" or the address does not fit. */
static bool split(const char *text, char *address, size_t size, const char **len)
{
    const char *slash = strchr(text, '/');

    if (!slash || (size_t)(slash - text) >= size)
        return false;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    *len = slash + 1;
    return true;
}

bool config_prefix4(const char *text, uint8_t ip[4], uint8_t *len, char *want, size_t want_size)
{
    char address[INET_ADDRSTRLEN];
    const char *bits;
    uint64_t n;

    if (!split(text, address, sizeof address, &bits) || inet_pton(AF_INET, address, ip) != 1)
        return describe(want, want_size, "an address and prefix length, such as 10.0.0.2/24"),
               false;
    if (!toe_number(bits, 1, 32, &n, NULL, 0))
        return describe(want, want_size, "a prefix length from 1 to 32"), false;
    if (ip[0] == 0 || ip[0] == 127 || ip[0] >= 224)
        return describe(want, want_size, "a unicast address that is not loopback"), false;
    *len = (uint8_t)n;
    return true;
}

/* Returns whether the address is not ::, ::1, IPv4-mapped or multicast. */
static bool is_unicast6(const uint8_t a[16])
{
    struct in6_addr in;

    memcpy(&in, a, sizeof in);
    return !IN6_IS_ADDR_UNSPECIFIED(&in) && !IN6_IS_ADDR_LOOPBACK(&in) &&
           !IN6_IS_ADDR_V4MAPPED(&in) && !IN6_IS_ADDR_MULTICAST(&in);
}

bool config_prefix6(const char *text, uint8_t ip[16], uint8_t *len, char *want, size_t want_size)
{
    char address[INET6_ADDRSTRLEN];
    const char *bits;
    uint64_t n;

    if (!split(text, address, sizeof address, &bits) || inet_pton(AF_INET6, address, ip) != 1)
        return describe(want, want_size, "an address and prefix length, such as 2001:db8::10/64"),
               false;
    if (!toe_number(bits, 1, 128, &n, NULL, 0))
        return describe(want, want_size, "a prefix length from 1 to 128"), false;
    if (!is_unicast6(ip) || (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80))
        return describe(want, want_size,
                        "a unicast address that is neither loopback nor link-local"),
               false;
    *len = (uint8_t)n;
    return true;
}

bool config_address4(const char *text, uint8_t ip[4])
{
    return inet_pton(AF_INET, text, ip) == 1;
}

bool config_address6(const char *text, uint8_t ip[16])
{
    return inet_pton(AF_INET6, text, ip) == 1 && is_unicast6(ip);
}

bool config_mac(const char *text, uint8_t mac[6])
{
    static const uint8_t none[6];

    return toe_mac(text, mac) && memcmp(mac, none, sizeof none) != 0 && !(mac[0] & 1);
}

/* ---- lists ---- */

/* Checks each of the words between commas. */
static bool each_word(const struct config_setting *s, const char *text,
                      bool (*accepts)(const struct config_setting *, const char *))
{
    char word[32];
    size_t n;

    for (;; text += n + 1) {
        n = strcspn(text, ",");
        if (n >= sizeof word)
            return false;
        memcpy(word, text, n);
        word[n] = '\0';
        if (!accepts(s, word))
            return false;
        if (!text[n])
            return true;
    }
}

static bool is_cpu(const struct config_setting *s, const char *word)
{
    uint64_t n;

    return toe_number(word, s->min, s->max, &n, NULL, 0);
}

/* name=on, name=off where the names are offloads; name=NUMBER where they are limits. */
static bool is_pair(const struct config_setting *s, const char *word)
{
    const char *equals = strchr(word, '=');
    uint64_t n;

    if (!equals || !config_word_in(s->words, word, (size_t)(equals - word)))
        return false;
    if (strcmp(s->name, "offload") == 0)
        return strcmp(equals, "=on") == 0 || strcmp(equals, "=off") == 0;
    return toe_number(equals + 1, 1, UINT32_MAX, &n, NULL, 0);
}

/* ---- all types ---- */

/* "a, b or c" */
static void list_words(const char *words, char *out, size_t size)
{
    size_t at = 0, n;

    while (at < size) {
        n = strcspn(words, "|");
        at += (size_t)snprintf(out + at, size - at, "%.*s", (int)n, words);
        if (!words[n] || at >= size)
            return;
        words += n + 1;
        at += (size_t)snprintf(out + at, size - at, "%s", strchr(words, '|') ? ", " : " or ");
    }
}

void config_describe(const struct config_setting *s, char *want, size_t want_size)
{
    char words[CONFIG_WANT - 32] = "";
    static const char *const fixed[] = {
        [CONFIG_TEXT] = "a text that is not empty",
        [CONFIG_FLAG] = "true or false",
        [CONFIG_ADDRESS4] = "an address",
        [CONFIG_PREFIX6] = "an address and prefix length, such as 2001:db8::10/64",
        [CONFIG_ADDRESS6] = "a unicast IPv6 address",
        [CONFIG_MAC] = "a unicast Ethernet address, such as 02:00:00:00:00:01",
    };

    if (s->words)
        list_words(s->words, words, sizeof words);
    switch (s->type) {
    case CONFIG_NUMBER:
    case CONFIG_POWER:
        snprintf(want, want_size, "a %s from %llu to %llu",
                 s->type == CONFIG_POWER ? "power of two" : "whole number",
                 (unsigned long long)s->min, (unsigned long long)s->max);
        return;
    case CONFIG_WORD:
        snprintf(want, want_size, "%s", words);
        return;
    case CONFIG_CPUS:
        snprintf(want, want_size, "numbers of CPUs from 0 to %llu, such as 2,3",
                 (unsigned long long)s->max);
        return;
    case CONFIG_PAIRS:
        snprintf(want, want_size, "NAME=%s,... with names out of %s",
                 strcmp(s->name, "offload") == 0 ? "on|off" : "NUMBER", words);
        return;
    case CONFIG_HEX:
        snprintf(want, want_size, "%llu to %llu hex digits", (unsigned long long)s->min,
                 (unsigned long long)s->max);
        return;
    case CONFIG_PREFIX4:
        snprintf(want, want_size, "an address and prefix length, such as 10.0.0.2/24%s%s",
                 s->words ? ", or " : "", words);
        return;
    default:
        snprintf(want, want_size, "%s", fixed[s->type]);
    }
}

static bool is_hex(const struct config_setting *s, const char *text)
{
    size_t n = 0;

    while (toe_hex_digit(text[n]) >= 0)
        n++;
    return !text[n] && n >= s->min && n <= s->max;
}

/* Not empty, one line, nothing that a terminal would interpret. */
static bool is_line(const char *text)
{
    const char *c;

    for (c = text; *c; c++)
        if (iscntrl((unsigned char)*c))
            return false;
    return c != text;
}

bool config_accepts(const struct config_setting *s, const char *text, char *want, size_t want_size)
{
    uint8_t address[16], len;
    uint64_t n;

    config_describe(s, want, want_size);
    switch (s->type) {
    case CONFIG_TEXT:
        return is_line(text);
    case CONFIG_NUMBER:
        return toe_number(text, s->min, s->max, &n, NULL, 0);
    case CONFIG_POWER:
        return toe_number(text, s->min, s->max, &n, NULL, 0) && (n & (n - 1)) == 0;
    case CONFIG_FLAG:
        return config_flag(text) >= 0;
    case CONFIG_WORD:
        return config_word_in(s->words, text, strlen(text));
    case CONFIG_CPUS:
        return each_word(s, text, is_cpu);
    case CONFIG_PAIRS:
        return each_word(s, text, is_pair);
    case CONFIG_HEX:
        return is_hex(s, text);
    case CONFIG_PREFIX4:
        return (s->words && config_word_in(s->words, text, strlen(text))) ||
               config_prefix4(text, address, &len, want, want_size);
    case CONFIG_ADDRESS4:
        return config_address4(text, address);
    case CONFIG_PREFIX6:
        return config_prefix6(text, address, &len, want, want_size);
    case CONFIG_ADDRESS6:
        return config_address6(text, address);
    default: /* CONFIG_MAC */
        return config_mac(text, address);
    }
}

const char *config_full_name(const struct config_setting *s, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", s->section, *s->section ? "." : "", s->name);
    return out;
}
