/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The message for options that getopt refuses. */
#ifndef SOFTHCA_CLI_MISTAKE_H
#define SOFTHCA_CLI_MISTAKE_H

#include "cli/cli.h"

/* Says what is wrong; argv[next] is the word that getopt would read next. */
void mistake_say(const struct cli_verb *v, char **argv, int next);

#endif
