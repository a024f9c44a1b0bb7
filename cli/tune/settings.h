/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - which settings `toehold tune` tries: from what the machine has and what the user
 * wants. Pure functions; nothing is changed. */
#ifndef TOE_CLI_TUNE_SETTINGS_H
#define TOE_CLI_TUNE_SETTINGS_H

#include "buffers.h"
#include "nic.h"
#include "toe.h"

enum tune_place { TUNE_KERNEL, TUNE_TOED, TUNE_INLINE, TUNE_THREAD, TUNE_PLACES };

/* Everything that tune can change, as it is set. */
struct tune_state {
    struct nic nic;
    struct tune_buffers buffers;
    struct tune_toe toe;
};

/* What is changed relative to the state before. Zero: nothing. */
struct tune_setting {
    char name[96];
    uint32_t nic_flip; /* mask of enum nic_word: words whose state is inverted */
    uint32_t toe_flip; /* mask of the offloads of tune_toe */
    bool sets_usecs;
    uint32_t rx_usecs;
    uint64_t buffers;        /* the most bytes of a socket's buffer; 0: as before */
    enum tune_place place;   /* of the command's sockets */
    const char *variable[2]; /* variables of libtoe, "TOEHOLD_X=N"; NULL: none */
};

/* What --try accepts, as bits. The bits of enum nic_word come first. */
enum tune_word {
    TUNE_W_USECS = NIC_WORDS,
    TUNE_W_BUFFERS,
    TUNE_W_TOED,
    TUNE_W_INLINE,
    TUNE_W_THREAD,
    TUNE_W_MODERATION,
    TUNE_WORDS
};

/* What the machine and the workload permit. */
struct tune_facts {
    struct tune_state state;
    bool buffers_permitted;
    const char *no_place[TUNE_PLACES]; /* why the command cannot run there; NULL: it can */
};

#define TUNE_SETTINGS 64

struct tune_settings {
    struct tune_setting all[TUNE_SETTINGS]; /* [0]: the base, as it is set */
    size_t count;
    struct {
        char what[24], why[256];
    } left_out[TUNE_SETTINGS];
    size_t left_out_count;
};

/* Parses a list of words such as "tso,gro,toed"; "offloads" is all of the interface's, and
 * is not among those that are named. Returns false with the word that is unknown in `unknown`. */
bool tune_parse_words(const char *list, uint32_t *words, uint32_t *named, char *unknown,
                      size_t size);

/* The words, for messages: "tso, gso, ... or moderation". */
const char *tune_words(void);

/* Collects the settings of these words; what is not possible is left out with the reason. */
void tune_collect(const struct tune_facts *facts, uint32_t words, struct tune_settings *out);

/* Adds a reason to those that are left out. */
void tune_leave_out(struct tune_settings *s, const char *what, const char *why);

/* Combines settings that run on the kernel into one. Returns false if they are not at least two. */
bool tune_combine(const struct tune_setting *const *from, size_t count, struct tune_setting *out);

/* Returns what the machine's state is with the setting. */
void tune_target(const struct tune_state *before, const struct tune_setting *s,
                 struct tune_state *out);

/* Returns "kernel", "toed", "inline" or "thread". */
const char *tune_place_name(enum tune_place p);

#endif
