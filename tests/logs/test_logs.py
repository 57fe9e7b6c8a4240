# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""softhca decode on logs of real cards, also behind what loggers put before each line.

Each NAME.txt here has the address that it comes from, what a reader should be told, and the log:

    source: ADDRESS
    expect: KIND/NAME | CONDITION | ...
    status: 1                            (of the exit; otherwise 0)
    ---
    the lines

There are exactly as many explanations as `expect` lines, with these kinds and names. A condition is
KEY=NUMBER (a member of the explanation, or a field of the dump that it belongs to; value and count
are members), `part: NAME` (of that dump), `gone: TEXT` (not in the explanation), or a text in it.

usage: test_logs.py [-v] [--all-prefixes]
"""
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from softhca import SOFTHCA  # noqa: E402

ALL = '--all-prefixes' in sys.argv
PER_LOG = 3  # prefixes of each log; they take turns


def read(name):
    with open(os.path.join(HERE, name), encoding='utf-8') as f:
        head, _, text = f.read().partition('---\n')
    log = {'name': name, 'text': text, 'expect': [], 'status': 0, 'source': ''}
    for line in head.splitlines():
        key, _, value = line.partition(': ')
        if key == 'expect':
            log['expect'].append(value.split(' | '))
        else:
            log[key] = int(value) if key == 'status' else value
    return log


LOGS = [read(n) for n in sorted(os.listdir(HERE)) if n.endswith('.txt')]


def before(prefix):
    return lambda text: ''.join(prefix + line + '\n' for line in text.splitlines())


def clock(text):
    return ''.join(f'19:34:{n % 60:02} {line}\n' for n, line in enumerate(text.splitlines()))


def kernel_clock(text):
    return ''.join(f'[{12345.678901 + n * 0.000123:13.6f}] {line}\n' for n, line in enumerate(text.splitlines()))


def in_json(key, more, end=''):
    return lambda text: ''.join(json.dumps({**more, key: line + end}, ensure_ascii=n % 2 == 0) + '\n'
                                for n, line in enumerate(text.splitlines()))


PREFIXES = {
    'clock': clock,
    'kernel': kernel_clock,
    'kernel difference': before('[  +0.000002] '),
    'ISO': before('2026-11-22T10:11:12Z '),
    'ISO with a zone': before('2026-11-22 10:11:12,345 +02:00 '),
    'ISO in brackets': before('[2026-11-22T10:11:12.123Z] '),
    'GitHub Actions': before('2026-11-22T10:11:12.1234567Z '),
    'gh run view': before('build\tRun tests\t2026-11-22T10:11:12.1234567Z '),
    'journalctl of the kernel': before('Nov 22 10:11:12 node17 kernel: '),
    'journalctl of a unit': before('Nov 22 10:11:12 node17.example.org train.sh[4711]: '),
    'dmesg -T': before('[Sun Nov 22 10:11:12 2026] '),
    'Open MPI': before('[1,3]<stderr>:'),
    'Open MPI with a clock': before('Sun Nov 22 10:11:12 2026[1,0]<stdout>:'),
    'rank': before('[0] '),
    'rank of PyTorch': before('[rank3]: '),
    'rank in words': before('(rank 3) '),
    'srun -l': before('0: '),
    'srun -l, two digits': before('12: '),
    'pdsh': before('node12: '),
    'docker compose': before('web_1  | '),
    'docker compose and a clock': before('worker-2  | 2026-11-22T10:11:12.123456789Z '),
    'CRI': before('2026-11-22T10:11:12.123456789Z stderr F '),
    'mail': before('> '),
    'mail, twice': before('>> '),
    'mail in bugzilla': lambda text: ''.join(x + '=0A=\n' for x in text.splitlines()),
    'colours': lambda text: ''.join(f'\033[31m{x}\033[0m\n' for x in text.splitlines()),
    'CRLF': lambda text: text.replace('\n', '\r\n'),
    'JSON': in_json('msg', {'time': '2026-11-22T10:11:12Z', 'level': 'error'}),
    'JSON of docker': in_json('log', {}, '\n'),
    'JSON of journalctl': in_json('MESSAGE', {'PRIORITY': '4', '_TRANSPORT': 'kernel'}),
}


def decode(text, *options):
    return subprocess.run([SOFTHCA, 'decode', *options], input=text.encode(), capture_output=True, check=False)


def explanations(text):
    """(status, [(explanation, fields of its dump, name of its dump)])"""
    r = decode(text, '-j')
    if not r.stdout:
        return r.returncode, []
    out = json.loads(r.stdout)
    found = [(m, {}, None) for m in out['meanings']]
    for p in out['parts']:
        fields = {f['name']: f.get('value') for f in p['fields']}
        found += [(m, fields, p['name']) for m in p.get('meanings', [])]
    return r.returncode, found


def fits(found, conditions):
    meaning, fields, part = found
    text = json.dumps(meaning, ensure_ascii=False)
    for c in conditions:
        key, eq, value = c.partition('=')
        if re.fullmatch(r'0x[0-9a-f]+=value', c):
            ok = meaning['value'] == int(key, 16)
        elif eq and re.fullmatch(r'0x[0-9a-f]+|\d+', value):
            ok = meaning.get(key, fields.get(key)) == int(value, 0)
        elif c.startswith('gone: '):
            ok = c[6:] not in text
        elif c.startswith('part: '):
            ok = part == c[6:]
        else:
            ok = c in text
        if not ok:
            return False
    return True


class Logs(unittest.TestCase):
    maxDiff = None

    def check(self, log, text, what=''):
        status, found = explanations(text)
        names = sorted(f"{m['kind']}/{m['name']}" for m, _, _ in found)
        where = f"{log['name']} {what}\n{text}"
        self.assertEqual(names, sorted(e[0] for e in log['expect']), where)
        self.assertEqual(status, log['status'], where)
        left = list(found)
        # Those with most conditions choose first.
        for name, *conditions in sorted(log['expect'], key=len, reverse=True):
            fit = [f for f in left if f"{f[0]['kind']}/{f[0]['name']}" == name and fits(f, conditions)]
            self.assertTrue(fit, f'{where}\n{name}: {conditions}\n{json.dumps([f[0] for f in left], indent=1)}')
            left.remove(fit[0])

    def test_each_log_has_a_source_and_there_are_enough(self):
        self.assertGreaterEqual(len([x for x in LOGS if x['expect']]), 60)
        for log in LOGS:
            self.assertTrue(log['source'], log['name'])
            self.assertEqual(bool(log['expect']), log['status'] == 0, log['name'])

    def test_each_log(self):
        for log in LOGS:
            with self.subTest(log['name']):
                self.check(log, log['text'])

    def test_each_log_behind_prefixes(self):
        names, done = list(PREFIXES), 0
        for i, log in enumerate(LOGS):
            for k in range(len(names) if ALL else PER_LOG):
                name = names[(i * PER_LOG + k) % len(names)]
                with self.subTest(log['name'], prefix=name):
                    self.check(log, PREFIXES[name](log['text']), f'behind {name}')
                done += 1
        self.assertGreaterEqual(done, 100)

    def test_nothing_known_is_one_line_that_says_what_it_looks_like(self):
        for log in LOGS:
            if log['status']:
                r = decode(log['text'])
                self.assertEqual((r.returncode, r.stdout), (1, b''), log['name'])
                self.assertRegex(r.stderr.decode(), r'\Asofthca: decode: nothing here that I know: [^\n]+\n\Z')

    def test_the_last_row_alone_is_enough(self):
        for text in ('00000000 93005204 0a0019a1 c0921cd2\n',
                     '[  12.345678] 00000000 93005204 0a0019a1 c0921cd2\n',
                     '19:34:56 00000030: 00 00 00 00 93 00 52 04 0a 00 19 a1 c0 92 1c d2\n'):
            status, found = explanations(text)
            self.assertEqual([(m['name'], f['vendor_err'], f['send_opcode'], f['qpn']) for m, f, _ in found],
                             [('LOCAL_PROT', 0x52, 0xa, 0x19a1)], text)
            self.assertEqual(status, 0)

    def test_rows_of_other_numbers_are_no_completion(self):
        for row in ('00000000 93005304 0a0019a1 c0921c02', '12345678 9abcdef0 0f1e2d3c 4b5a69d2',
                    '00000000 00000013 08006214 0000f6d2'):
            self.assertEqual(explanations(f'[  1.000000] {row}\n'), (1, []), row)

    def test_sums_and_addresses_are_no_dumps(self):
        import hashlib
        sums = [hashlib.md5(b'%d' % n).hexdigest() for n in range(2000)]
        text = ''.join(f'{s}  file{n}\n' + ('sum\n' if n % 2 else '') for n, s in enumerate(sums))
        text += ('link/ether 52:54:00:12:34:56\nfe:80:00:00:00:00:00:00:a0:88:c2:03:00:12:55:cc is a GID\n'
                 'up 19:34:56\n19:34:56\n2026-11-22 19:34:56\n00:00:00:00:00:00\n')
        self.assertEqual(explanations(text), (1, []))
        self.assertEqual(json.loads(decode(text + 'IBV_WC_REM_OP_ERR\n', '-j').stdout)['parts'], [])


if __name__ == '__main__':
    sys.argv = [a for a in sys.argv if a != '--all-prefixes']
    unittest.main()
