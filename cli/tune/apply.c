/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - see apply.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/message.h"
#include "apply.h"

/* Names of settings in files, by the variables of libtoe (docs/CONFIG.md). */
static const struct name {
    const char *variable, *setting;
} names[] = {
    {"TOEHOLD_IRQ_COUNT=", "irq-count"},
    {"TOEHOLD_IRQ_USEC=", "irq-usec"},
    {"TOEHOLD_TX_SIZE=", "tx-size"},
    {"TOEHOLD_RX_SIZE=", "rx-size"},
};

static void write_variable(const char *variable, char *out, size_t size)
{
    size_t i, at = strlen(out);

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i].variable);

        if (strncmp(variable, names[i].variable, n) == 0)
            snprintf(out + at, size - at, "%s = %s\n", names[i].setting, variable + n);
    }
}

static void compose(const struct tune_setting *best, char *out, size_t size)
{
    int i;

    snprintf(out, size,
             "# written by toehold tune --apply; toehold tune --revert removes it\n"
             "[run]\nengine = \"%s\"\n",
             tune_place_name(best->place));
    for (i = 0; i < 2 && best->variable[i]; i++)
        write_variable(best->variable[i], out, size);
}

static bool refuse(struct tune_saved *s)
{
    s->file[0] = s->text[0] = '\0';
    return false;
}

/* Writes the file of settings, which the saved state names first. */
static bool write_file(struct tune_saved *s, const struct tune_setting *best, const char *file)
{
    int fd;
    bool ok;

    compose(best, s->text, sizeof s->text);
    snprintf(s->file, sizeof s->file, "%s", file);
    if (access(file, F_OK) == 0) {
        cli_message(
            "tune: %s exists and is not changed; add engine = \"%s\" to [run] there, or give "
            "--settings FILE",
            file, tune_place_name(best->place));
        return refuse(s);
    }
    if (!tune_save_again(s))
        return refuse(s);
    fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    ok = fd >= 0 && write(fd, s->text, strlen(s->text)) == (ssize_t)strlen(s->text) &&
         fsync(fd) == 0;
    if (!ok)
        cli_message("tune: cannot write %s: %s; --settings FILE names another file", file,
                    strerror(errno));
    if (fd >= 0)
        close(fd);
    if (!ok && fd >= 0)
        unlink(file);
    return ok || refuse(s);
}

bool tune_apply(struct tune_saved *s, const struct tune_setting *best, const char *file, char *text,
                size_t size)
{
    struct tune_state target;
    char why[TUNE_WHY];

    snprintf(s->setting, sizeof s->setting, "%s", best->name);
    if (best->place == TUNE_KERNEL ? !tune_save_again(s) : !write_file(s, best, file))
        return false;
    tune_target(&s->before, best, &target);
    if (!tune_change(&target, why, sizeof why)) {
        cli_message("tune: %s", why);
        return false;
    }
    if (s->file[0])
        snprintf(text, size,
                 "applied: %s; %s is read by `toehold run` (with another name by --config)",
                 best->name, s->file);
    else
        snprintf(text, size, "applied: %s; `toehold tune --revert` undoes it", best->name);
    return true;
}
