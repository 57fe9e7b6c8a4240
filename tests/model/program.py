# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The text of a program: one line a step, `verb name=value ...`, and for work requests ` ; name=value
...` each. The model and exec.c read the same line. A key is named by its object: m0 is the key of
region 0, w1 that of window 1 as its owner knows it, w1- and w1+ the ones before and after, m0x one
that nobody has.
"""

ARENA = 65536  # bytes of memory that all regions are in; an address is an offset there
BLOCK = 4096


class Undefined(Exception):
    """The specification does not say what this step does."""


class Step:
    def __init__(self, verb, args=None, wrs=(), **kw):
        self.verb = verb
        self.args = {**(args or {}), **kw}
        self.wrs = [dict(w) for w in wrs]

    def __str__(self):
        parts = [f'{self.verb}' + self.words(self.args)]
        return ' ;'.join(parts + [self.words(w) for w in self.wrs])

    @staticmethod
    def words(args):
        return ''.join(f' {k}={v}' for k, v in args.items() if v not in (None, ''))

    @staticmethod
    def parse(line):
        head, *wrs = line.split(';')
        verb, *words = head.split()
        return Step(verb, dict(map(number, words)), [dict(map(number, w.split())) for w in wrs])


def number(word):
    name, value = word.split('=', 1)
    return name, int(value) if value.lstrip('-').isdigit() else value


def is_group(name):
    """A multicast group: g0, g1."""
    return name[0] == 'g'


def sges(wr):
    """The gather or scatter list of a work request: (key, offset, length)."""
    return [(k, int(o), int(n)) for k, o, n in
            (s.split(':') for s in str(wr.get('sge', '')).split(',') if s)]


PATTERN = bytes((i * 7 + (i >> 8) * 13) & 255 for i in range(ARENA))


def pattern(seed, n):
    """Bytes that differ from those of other places and seeds: exec.c has the same."""
    return PATTERN[:n].translate(bytes((seed * 37 + b) & 255 for b in range(256)))
