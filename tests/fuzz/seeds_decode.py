#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Seeds for the target `decode`: the logs of tests/logs, and some of them behind prefixes.

usage: seeds_decode.py DIR
"""
import os
import sys

LOGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'logs')
PREFIXES = ('', '19:34:56 ', '[   12.345678] ', '2026-11-22T10:11:12.123Z ', 'Nov 22 10:11:12 h kernel: ',
            '[1,3]<stderr>:', '0: ', 'web_1  | ', '> ', '{"msg": "', 'a\tb\t2026-11-22T10:11:12Z ')

os.makedirs(sys.argv[1], exist_ok=True)
for i, name in enumerate(sorted(n for n in os.listdir(LOGS) if n.endswith('.txt'))):
    with open(os.path.join(LOGS, name), encoding='utf-8') as f:
        text = f.read().partition('---\n')[2]
    with open(os.path.join(sys.argv[1], name), 'w', encoding='utf-8') as f:
        f.write(text)
    prefix = PREFIXES[i % len(PREFIXES)]
    with open(os.path.join(sys.argv[1], name + '.prefixed'), 'w', encoding='utf-8') as f:
        f.writelines(prefix + line + '\n' for line in text.splitlines())
