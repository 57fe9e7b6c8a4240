#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Who sees what of faults of messages: what both ends of tests/e2e/work.c, the events and the counters really show, as a
part of softhca-inject(1). test_inject.py compares; `SOFTHCA_BUILD=... who_sees.py` prints it.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import ALL_CLOSED, BUILD, SOFTHCA  # noqa: E402

PORT = '/sys/class/infiniband/mlx5_0/ports/1'
# Rules, without when=3, and the request, as work's arguments.
ROWS = [
    ('SEND:lost', 'SEND RC'), ('SEND:lost', 'SEND UC'), ('SEND:lost', 'SEND UD'), ('READ:lost', 'READ RC'),
    ('SEND:late=30ms', 'SEND RC'), ('WRITE:cut=2', 'WRITE RC 5000'), ('WRITE:cut=2', 'WRITE UC 5000'),
    ('SEND:unanswered', 'SEND RC'), ('SEND:duplicated', 'SEND UD'), ('SEND:rnr', 'SEND RC'),
    *((f'SEND:status={name}', 'SEND RC') for name in (
        'LOC_LEN_ERR', 'LOC_QP_OP_ERR', 'LOC_PROT_ERR', 'BAD_RESP_ERR', 'REM_ABORT_ERR', 'REM_INV_REQ_ERR', 'REM_ACCESS_ERR',
        'REM_OP_ERR', 'RETRY_EXC_ERR', 'RNR_RETRY_EXC_ERR')),
    ('UMR:status=MW_BIND_ERR', 'BIND RC'), ('SEND:status=LOC_PROT_ERR', 'SEND UD'),
    *((f'RECV:status={name}', 'SEND RC') for name in ('LOC_LEN_ERR', 'LOC_PROT_ERR', 'LOC_ACCESS_ERR')),
]
STATUS = {
    'success': 'SUCCESS', 'local length error': 'LOC_LEN_ERR', 'local QP operation error': 'LOC_QP_OP_ERR',
    'local protection error': 'LOC_PROT_ERR', 'memory bind operation error': 'MW_BIND_ERR',
    'memory management operation error': 'MW_BIND_ERR', 'bad response error': 'BAD_RESP_ERR',
    'local access error': 'LOC_ACCESS_ERR', 'remote invalid request error': 'REM_INV_REQ_ERR',
    'remote access error': 'REM_ACCESS_ERR', 'remote operation error': 'REM_OP_ERR', 'operation aborted': 'REM_ABORT_ERR',
    'aborted error': 'REM_ABORT_ERR',
    'transport retry counter exceeded': 'RETRY_EXC_ERR', 'RNR retry counter exceeded': 'RNR_RETRY_EXC_ERR',
    'Work Request Flushed Error': 'WR_FLUSH_ERR', 'none': 'nothing', '-': None}
EVENTS = {'local access violation work queue error': 'QP_ACCESS_ERR', 'invalid request local work queue error': 'QP_REQ_ERR',
          'local work queue catastrophic error': 'QP_FATAL'}
# Counted by each message.
ALWAYS = re.compile(r'rx_\w+_requests|\w+_data|\w+_packets|lifespan')


def run(args, *options):
    """The output of work, and the counters that are not 0."""
    show = f'{BUILD}/tests/e2e/work {args}; {ALL_CLOSED}; cd {PORT}; grep -H . counters/* hw_counters/* || true'
    out = subprocess.run([SOFTHCA, 'run', *options, '--', 'sh', '-c', show], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, errors='replace', check=True).stdout
    counters = {name: int(n) for name, n in re.findall(r'^(?:hw_)?counters/(\w+):(\d+)$', out, re.M)
                if int(n) and not ALWAYS.fullmatch(name)}
    return out, counters


def see(rule, args):
    """(requester, responder, events, counters): texts, in the words of verbs."""
    out, counters = run(args, '--inject', f'{rule}:when=3')
    sent, error, got, theirs, landed = re.search(r'^3: (.*) (0x\w+); receive: (.*?)( 0x\w+)?; (\d+) bytes$', out, re.M).groups()
    states = dict(re.findall(r'^(requester|responder): (\w+)$', out, re.M))
    requester = [STATUS[sent] + (f', vendor_err {error}' if error != '0x0' else '')]
    responder = [STATUS[got] + (f', vendor_err{theirs}' if theirs else '')] if STATUS[got] else ['all bytes' if int(landed) else 'nothing']
    if STATUS[got] is None and args.split()[0] in ('READ', 'BIND'):
        responder = ['nothing']
    size = int((args.split() + ['64'])[2]) if len(args.split()) > 2 else 64
    if args.startswith('WRITE') and 0 < int(landed) < size:
        responder = [f'{landed} of {size} bytes']
    if 'another receive' in out:
        responder.append('and another receive')
    for side, what in ('requester', requester), ('responder', responder):
        if states[side] != 'RTS':
            what.append(f'state {states[side]}')
    events = [f'{EVENTS[e]} of the {who}' for e, who in re.findall(r'^event: (.*) of (\w+)$', out, re.M)]
    return (', '.join(requester), ', '.join(responder), ', '.join(events) or 'none',
            ', '.join(f'{name} {n}' for name, n in sorted(counters.items())) or 'none')


def page():
    """The list in softhca-inject(1)."""
    lines = ['.Bl -tag -width Ds']
    for rule, args in ROWS:
        requester, responder, events, counters = see(rule, args)
        op, kind = args.split()[:2]
        lines += [f'.It Cm {rule} No on {kind}',
                  f'requester: {requester}; responder: {responder}; events: {events}; counters: {counters}.']
    return '\n'.join([*lines, '.El', ''])


if __name__ == '__main__':
    print(page(), end='')
