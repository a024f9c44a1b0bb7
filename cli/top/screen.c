/* SPDX-License-Identifier: Apache-2.0 */
/* screen.c - `toehold top` on a terminal, by ncurses (screen.h). */
#define _GNU_SOURCE
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ncurses.h>
#include <toe/attach.h>

#include "common/exit.h"
#include "common/message.h"
#include "common/query.h"
#include "screen.h"
#include "view.h"

#define DROPS_MAX 6  /* rows of drops on the screen */
#define DETAIL_ID 64 /* as top_flow.id */

struct screen {
    struct top_options o;
    struct top_look look;
    bool seen;         /* there is a look */
    char why[512];     /* why the last look failed; "": it did not */
    size_t at, scroll; /* the chosen flow; the first one shown */
    bool paused, help;
    char id[DETAIL_ID]; /* flow whose details are shown; "": none */
    double next;        /* time of the next look */
};

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
    (void)number;
    ended = 1;
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- drawing ---- */

/* Writes a row, cut at the edge of the terminal. Returns the next row. */
static int put_row(int y, const char *text, attr_t attributes)
{
    if (y >= LINES)
        return y;
    attron(attributes);
    mvaddnstr(y, 0, text, COLS);
    attroff(attributes);
    return y + 1;
}

static int draw_engines(const struct screen *s)
{
    char row[VIEW_ROW];
    size_t i;
    int y = 0;

    view_title(&s->look, s->o.path, row);
    y = put_row(y, row, A_BOLD);
    view_engine_head(row);
    y = put_row(y, row, A_UNDERLINE);
    for (i = 0; i < s->look.engine_count; i++) {
        view_engine(&s->look.engines[i], row);
        y = put_row(y, row, A_NORMAL);
    }
    for (i = 0; i < s->look.drop_count && i < DROPS_MAX; i++) {
        view_drop(&s->look.drops[i], row);
        y = put_row(y, row, s->look.drops[i].rate > 0 ? A_BOLD : A_NORMAL);
    }
    return y;
}

static void draw_flows(struct screen *s, int y)
{
    size_t n = s->look.flow_count, rows, i;
    char row[VIEW_ROW];

    view_flow_head(s->o.sort, row);
    y = put_row(y, row, A_UNDERLINE);
    if (y >= LINES - 1)
        return;
    rows = (size_t)(LINES - 1 - y);
    s->at = n && s->at >= n ? n - 1 : s->at;
    if (s->at < s->scroll)
        s->scroll = s->at;
    if (s->at >= s->scroll + rows)
        s->scroll = s->at - rows + 1;
    for (i = s->scroll; i < n && i < s->scroll + rows; i++) {
        view_flow(&s->look.flows[i], row);
        y = put_row(y, row, i == s->at ? A_REVERSE : A_NORMAL);
    }
}

static const struct top_flow *chosen(const struct screen *s)
{
    size_t i;

    for (i = 0; i < s->look.flow_count; i++)
        if (strcmp(s->look.flows[i].id, s->id) == 0)
            return &s->look.flows[i];
    return NULL;
}

static void draw_text(char *text)
{
    char *line;
    int y = 0;

    for (line = strsep(&text, "\n"); line && y < LINES - 1; line = strsep(&text, "\n"))
        y = put_row(y, line, y == 0 ? A_BOLD : A_NORMAL);
}

/* Draws the details of the chosen flow; of one that has ended, its last events. */
static void draw_details(const struct screen *s)
{
    char request[sizeof(((struct toedev_hello *)0)->name)], why[512], *text = NULL;
    const struct top_flow *flow = chosen(s);
    size_t size;
    int code;
    json_t *trace;
    FILE *f;

    if ((size_t)snprintf(request, sizeof request, "flow %s", s->id) >= sizeof request)
        return;
    trace = cli_query_quietly(s->o.path, TOEDEV_HELLO_TRACE, request, &code, why, sizeof why);
    f = open_memstream(&text, &size);
    if (f) {
        if (flow)
            view_details(f, flow, trace);
        else if (json_is_array(json_object_get(trace, "events")))
            view_ended(f, trace);
        else
            fprintf(f, "flow %s has ended, and its events are lost\n", s->id);
        fclose(f);
        draw_text(text);
    }
    free(text);
    json_decref(trace);
}

static void draw_help(void)
{
    static const char *const rows[] = {
        "toehold top: keys",
        "  up, down, j, k    choose a flow",
        "  Enter             its details and last events; Esc or Backspace: back",
        "  t r l d c u       sort by bytes sent, received, retransmissions, RTT, cwnd, queued",
        "  R                 reverse the order",
        "  p                 pause",
        "  h, ?              this help",
        "  q                 quit",
        "",
        "Rates are per second. Poll% is the share of time in polls that found no work, a part of",
        "CPU%. Rows between engines and flows are drops by reason, with their totals."};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        put_row((int)i, rows[i], i == 0 ? A_BOLD : A_NORMAL);
}

static void draw(struct screen *s)
{
    erase();
    if (s->help)
        draw_help();
    else if (!s->seen)
        put_row(0, "toehold top", A_BOLD);
    else if (s->id[0])
        draw_details(s);
    else
        draw_flows(s, draw_engines(s));
    if (LINES > 1)
        put_row(LINES - 1,
                s->why[0]             ? s->why
                : s->paused           ? "paused; p continues"
                : s->help || s->id[0] ? "Esc back  q quit"
                                      : "q quit  h help  Enter details  t r l d c u sort",
                s->why[0] ? A_BOLD : A_DIM);
    refresh();
}

/* ---- looks and keys ---- */

/* Looks again. If the TOE does not answer, what was seen last stays, with the reason below. */
static void look_again(struct screen *s)
{
    struct top_look look;

    s->next = seconds_now() + (double)s->o.every_s;
    if (top_look(s->o.path, s->seen ? &s->look : NULL, &look, s->why, sizeof s->why) == CLI_OK) {
        if (s->seen)
            top_free(&s->look);
        s->look = look;
        s->seen = true;
        s->why[0] = '\0';
    }
    if (s->seen)
        top_sort(&s->look, s->o.sort, s->o.reverse);
}

static void sort_by(struct screen *s, enum top_sort by)
{
    s->o.sort = by;
    top_sort(&s->look, by, s->o.reverse);
}

static void move_to(struct screen *s, int by)
{
    if (by < 0 && s->at > 0)
        s->at--;
    else if (by > 0 && s->at + 1 < s->look.flow_count)
        s->at++;
}

static void back(struct screen *s)
{
    s->help = false;
    s->id[0] = '\0';
}

/* Handles keys of the list. */
static void on_list_key(struct screen *s, int key)
{
    static const char sorts[] = "trldcu"; /* in the order of enum top_sort */
    const char *sort = key > 0 && key < 128 ? strchr(sorts, key) : NULL;

    if (sort) {
        sort_by(s, (enum top_sort)(sort - sorts));
    } else if (key == 'R') {
        s->o.reverse = !s->o.reverse;
        sort_by(s, s->o.sort);
    } else if (key == KEY_UP || key == 'k') {
        move_to(s, -1);
    } else if (key == KEY_DOWN || key == 'j') {
        move_to(s, 1);
    } else if ((key == '\n' || key == '\r' || key == KEY_ENTER) && s->at < s->look.flow_count) {
        snprintf(s->id, sizeof s->id, "%s", s->look.flows[s->at].id);
    }
}

/* Returns false when the user quits. */
static bool on_key(struct screen *s, int key)
{
    if (key == 'q')
        return false;
    if (key == 27 || key == KEY_BACKSPACE || key == 127 || key == '\b')
        back(s);
    else if (key == 'h' || key == '?')
        s->help = !s->help;
    else if (key == 'p')
        s->paused = !s->paused;
    else if (s->seen && !s->help && !s->id[0])
        on_list_key(s, key);
    return true;
}

static void run(struct screen *s)
{
    bool more = true;

    while (more && !ended) {
        double left = s->next - seconds_now();
        int key;

        if (!s->paused && left <= 0) {
            look_again(s);
            left = (double)s->o.every_s;
        }
        draw(s);
        timeout(s->paused ? -1 : left > 0 ? (int)(left * 1000) + 1 : 0);
        key = getch();
        if (key == KEY_RESIZE)
            clearok(stdscr, TRUE); /* what the terminal shows now is unknown */
        else if (key != ERR)
            more = on_key(s, key);
    }
}

int top_screen(const struct top_options *o)
{
    struct sigaction act = {.sa_handler = on_signal};
    struct screen s = {.o = *o};
    SCREEN *terminal;

    /* The first look is taken before the screen changes: a wrong path is an error like others. */
    look_again(&s);
    if (!s.seen) {
        cli_message("%s", s.why);
        return CLI_NO_DAEMON;
    }
    setlocale(LC_CTYPE, "");
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal) {
        cli_message("top: the terminal type TERM=%s is unknown; use --batch N",
                    getenv("TERM") ? getenv("TERM") : "");
        top_free(&s.look);
        return CLI_FAILURE;
    }
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    s.next = seconds_now() + (double)o->every_s;
    run(&s);
    endwin();
    delscreen(terminal);
    top_free(&s.look);
    return CLI_OK;
}
