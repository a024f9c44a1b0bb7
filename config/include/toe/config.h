/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the settings of Toehold as one table: name, type, range, default, environment
 * variable, when a change applies. Files, environment and command lines are parsed by it, and
 * docs/CONFIG.md is written from it. All functions are thread-safe; none allocates.
 */
#ifndef TOE_CONFIG_H
#define TOE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a setting takes. Values are text everywhere; config_accepts() checks them. */
enum config_type {
    CONFIG_TEXT,    /* one line that is not empty */
    CONFIG_NUMBER,  /* a decimal whole number from min to max */
    CONFIG_POWER,   /* ... that is a power of two */
    CONFIG_FLAG,    /* true or false; 1 or 0 in the environment */
    CONFIG_WORD,    /* one of `words` */
    CONFIG_CPUS,    /* "2" or "2,3" */
    CONFIG_PAIRS,   /* "name=value,..." with names of `words` */
    CONFIG_HEX,     /* hexadecimal digits */
    CONFIG_PREFIX4, /* 192.0.2.10/24, or "shared" where `words` has it */
    CONFIG_ADDRESS4,
    CONFIG_PREFIX6,
    CONFIG_ADDRESS6,
    CONFIG_MAC
};

/* When a changed value applies to a running toed. */
enum config_change {
    CONFIG_AT_START,  /* for a command: when it starts */
    CONFIG_RELOAD,    /* at SIGHUP */
    CONFIG_TAKE_OVER, /* by a take-over, which keeps all connections */
    CONFIG_RESTART    /* by a restart, which ends them */
};

struct config_setting {
    const char *section; /* table of the file: "toed", "run", ...; "": the top of the file */
    const char *name;    /* key of the file */
    enum config_type type;
    uint64_t min, max;    /* CONFIG_NUMBER, CONFIG_POWER */
    const char *words;    /* CONFIG_WORD, CONFIG_PAIRS, CONFIG_PREFIX4: "one|two" */
    const char *fallback; /* the default; NULL: none, or found out at run time */
    const char *variable; /* of the environment; NULL: none */
    const char *flag;     /* long option without "--"; NULL: none */
    const char *programs; /* that have the option */
    enum config_change change;
    bool only_flag; /* neither in files nor in the environment */
    const char *help;
};

/* The table, ordered by section. */
extern const struct config_setting config_settings[];
extern const size_t config_count;

/* Returns the setting of this name in a section. NULL: there is none. */
const struct config_setting *config_find(const char *section, const char *name);
/* Returns the setting of a section that has this option, of len characters. NULL: there is none. */
const struct config_setting *config_find_flag(const char *section, const char *flag, size_t len);

/* Checks a value. Returns false with a noun phrase in `want` that describes what is accepted. */
bool config_accepts(const struct config_setting *s, const char *text, char *want, size_t want_size);
#define CONFIG_WANT 160 /* size of a buffer that holds any `want` */

/* Writes what the setting accepts as a noun phrase: "a whole number from 1 to 64". */
void config_describe(const struct config_setting *s, char *want, size_t want_size);

/* Writes "section.name", or the name of a setting at the top. Returns out. */
const char *config_full_name(const struct config_setting *s, char *out, size_t size);
#define CONFIG_NAME 48 /* size of a buffer that holds any full name */

/* Returns the value of a flag as written: true, false, 1 or 0; -1: none of them. */
int config_flag(const char *text);

/* Returns whether `word` is one of "one|two|three". */
bool config_word_in(const char *words, const char *word, size_t len);

/* Parses "192.0.2.10/24" (CONFIG_PREFIX4 except "shared"). On failure `want` describes what is
 * accepted; it may be NULL. */
bool config_prefix4(const char *text, uint8_t ip[4], uint8_t *len, char *want, size_t want_size);
/* Parses "2001:db8::10/64", a unicast address that is neither loopback nor link-local. */
bool config_prefix6(const char *text, uint8_t ip[16], uint8_t *len, char *want, size_t want_size);
/* Parses the address of a router. */
bool config_address4(const char *text, uint8_t ip[4]);
bool config_address6(const char *text, uint8_t ip[16]);
/* Parses a unicast Ethernet address. */
bool config_mac(const char *text, uint8_t mac[6]);

/* A value that a profile sets. */
struct config_preset {
    const char *profile, *section, *name, *value;
};
/* The values of all profiles, ordered by profile. */
extern const struct config_preset config_presets[];
extern const size_t config_preset_count;

struct config_profile {
    const char *name, *help;
};
extern const struct config_profile config_profiles[];
extern const size_t config_profile_count;

/* Returns whether a is closer to `word` than b: fewer letters to insert, delete, replace or swap.
 * b may be NULL. */
bool config_closer(const char *word, const char *a, const char *b);
/* Returns the setting whose full name is closest to that of section and name. */
const struct config_setting *config_nearest(const char *section, const char *name);
/* Returns the section whose name is closest. */
const char *config_nearest_section(const char *section);

#ifdef __cplusplus
}
#endif

#endif
