#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Compares the adapter with the model: random programs, each by its seed, or one from a file.

usage: tests/model/run.py [--seed N] [--count N] [--doorbell MODE] [--file F] [--show]
       tests/model/run.py --coverage [--seed N] [--count N]
       tests/model/run.py --sources [--tree DIR...]
A program that differs is made as short as possible and printed with the step that differs. --sources prints the
model's rules with their sources, how many are inferred, and what lacks a source; --tree names folders of Linux and
rdma-core, in which the functions are looked up.
"""
import argparse
import os
import re
import subprocess
import sys
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'lib')]
import model as model_py  # noqa: E402
import sources  # noqa: E402
import transport as transport_py  # noqa: E402
from generate import Generator  # noqa: E402
from model import Model  # noqa: E402
from program import Step, Undefined, sges  # noqa: E402
from softhca import BUILD, SOFTHCA, Fabric  # noqa: E402

EXEC = os.path.join(BUILD, 'tests', 'model', 'model_exec')


def script(steps, told):
    """The text for the executor, of steps and what the model has told of them."""
    text = ['program']
    for step, (_, waits, scrubs) in zip(steps, told):
        text += [str(step), 'wait ' + ' '.join(f'{k}={v}' for k, v in waits.items() if v)]
        text += [f'scrub off={off} len={n}' for off, n in scrubs]
        text.append('show')
    return '\n'.join([*text, 'end', ''])


def predict(steps):
    """The same, and the lines that must come of each step."""
    model, told = Model(), []
    for step in steps:
        lines = model.step(step)
        told.append((lines, model.waits(), model.scrubs))
    return script(steps, told), [lines for lines, _, _ in told]


def same(want, got):
    """Equal, but for words that the model does not know."""
    if want == got:
        return True
    a, b = want.split(), got.split()
    return len(a) == len(b) and all(x in ('?', y) for x, y in zip(a, b))


class Executor:
    """exec.c on a fabric, fed with programs. It is started again when it has died."""

    def __init__(self, fab, doorbell, patience):
        self.fab, self.doorbell, self.patience = fab, doorbell, patience
        self.start()

    def start(self):
        argv = [SOFTHCA, 'run', '--fabric', self.fab.name, '--doorbell', self.doorbell, '--', EXEC]
        self.proc = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     errors='replace', env={**self.fab.env, 'PATIENCE': self.patience})

    def send(self, text):
        try:
            self.proc.stdin.write(text)
            self.proc.stdin.flush()
        except BrokenPipeError:
            pass

    def result(self):
        """The lines of the next program."""
        lines = []
        for line in self.proc.stdout:
            lines.append(line.rstrip('\n'))
            if lines[-1] == 'end':
                return lines[1:-1]
        return [*lines[1:], f'the executor ended with status {self.close()}']

    def run(self, text):
        if self.proc.poll() is not None:
            self.start()
        self.send(text)
        return self.result()

    def close(self):
        for f in (self.proc.stdin, self.proc.stdout):
            try:
                f.close()
            except BrokenPipeError:
                pass
        return self.proc.wait()


def difference(want, got):
    """(step, the model's lines, the adapter's) of the first step that differs; or None."""
    at = 0
    for i, lines in enumerate(want):
        part = got[at:at + len(lines)]
        if len(part) != len(lines) or not all(map(same, lines, part)):
            ends = [k for k in range(at, len(got)) if got[k].startswith('mem ')]
            return i, lines, got[at:ends[0] + 1 if ends else None]
        at += len(lines)
    return None if at == len(got) else (len(want) - 1, [], got[at:])


def differs(ex, steps):
    try:
        text, want = predict(steps)
    except Undefined:
        return None
    return difference(want, ex.run(text))


def shrink(ex, steps, best):
    """Leave out what can be left out: steps, then single work requests."""
    steps = steps[:best[0] + 1]
    size = len(steps) // 2
    while size:
        at = 0
        while at < len(steps):
            fewer = steps[:at] + steps[at + size:]
            d = differs(ex, fewer)
            if d:
                steps, best = fewer[:d[0] + 1], d
            else:
                at += size
        size //= 2
    for i, step in enumerate(steps):
        k = 0
        while len(step.wrs) > 1 and k < len(step.wrs):
            less = Step(step.verb, step.args, step.wrs[:k] + step.wrs[k + 1:])
            d = differs(ex, steps[:i] + [less] + steps[i + 1:])
            if d:
                step = steps[i] = less
                best = d
            else:
                k += 1
    return steps, best


def report(ex, name, steps, diff, keep=False):
    """Print the shortest program that differs, and where."""
    if not keep:
        steps, diff = shrink(ex, steps, diff)
    print(f'--- {name} differs (executor {ex.proc.pid})')
    for i, step in enumerate(steps):
        print('=> ' if i == diff[0] else '   ', step, sep='')
    for title, mine, other in (('model', diff[1], diff[2]), ('adapter', diff[2], diff[1])):
        print(f'{title}:')
        for line in mine:
            mark = ' ' if any(same(line, o) or same(o, line) for o in other) else '*'
            print(f'  {mark} {line}')
    sys.stdout.flush()


def wrong_counters(fab, want):
    """The port's counters that differ from the model's, after all programs have ended: [(name, model, adapter)]."""
    names = sorted(want)
    at = '/sys/class/infiniband/mlx5_0/ports/1/hw_counters'
    got = fab.run('cat', *(f'{at}/{n}' for n in names)).out.split() if names else []
    return [(n, want[n], g) for n, g in zip(names, got) if str(want[n]) != g]


def learn_gid(fab):
    at = '/sys/class/infiniband/mlx5_0/ports/1/gids/0'
    Model.gid = bytes.fromhex(fab.run('cat', at).out.strip().replace(':', ''))


def compare(fab, seeds, doorbell='trap', most=1, patience='60'):
    """(how many programs were compared, how many of them differ)"""
    learn_gid(fab)
    ex = Executor(fab, doorbell, patience)
    done, bad, waiting, counters = 0, 0, None, Counter()
    for seed in [*seeds, None]:
        now = None
        if seed is not None:
            # Polled, an arm may be seen after completions that came later.
            gen = Generator(seed, arms=doorbell == 'trap')
            steps = gen.program()
            text, want = script(steps, gen.told), [lines for lines, _, _ in gen.told]
            ex.send(text)
            now = seed, steps, want, gen.model.counters
        if waiting:
            seed_, steps, want, counted = waiting
            diff = difference(want, ex.result())
            done += 1
            counters.update(counted)
            if diff:
                bad += 1
                ex.close()
                ex = Executor(fab, doorbell, '0.5')
                report(ex, f'seed {seed_}', steps, diff)
                if bad >= most:
                    break
                ex.close()
                ex = Executor(fab, doorbell, patience)
                if now:
                    ex.send(text)
        waiting = now
        if not waiting:
            break
    if ex.close():
        bad += 1
        print('the executor has failed')
    for name, mine, its in [] if bad else wrong_counters(fab, counters):
        bad += 1
        print(f'counter {name}: model {mine}, adapter {its}')
    return done, bad


def from_file(fab, path, doorbell):
    learn_gid(fab)
    with open(path, encoding='ascii') as f:
        steps = [Step.parse(line.lstrip('=> ')) for line in f if line.strip(' =>\n')]
    text, want = predict(steps)
    ex = Executor(fab, doorbell, "5")
    got = ex.run(text)
    diff = difference(want, got)
    if diff:
        report(ex, path, steps, diff, keep=True)
    ex.close()
    return 1, int(bool(diff))


def coverage(seeds):
    """How often steps, requests, words of answers and counters occur in these programs."""
    seen = Counter()
    for seed in seeds:
        gen = Generator(seed)
        types, mtus = {}, {}
        for step, (lines, _, _) in zip(gen.program(), gen.told):
            q = step.args.get('q')
            if step.verb == 'qp':
                types[q] = step.args['type']
            mtus[q] = step.args.get('mtu') or mtus.get(q, 4096)
            to = step.args.get('to') if step.verb == 'modify' else None
            seen[' '.join(w for w in (step.verb, types.get(q), to) if w)] += 1
            for wr in step.wrs if step.verb == 'send' else ():
                seen[f'request {types[q]} {wr["op"]}'] += 1
                seen['request of several packets'] += sum(n for _, _, n in sges(wr)) > mtus[q]
                keys = [wr.get('rk', '0'), *(k for k, _, _ in sges(wr))]
                seen['request with a wrong key'] += any(k[-1] in 'x+-' for k in keys)
            for line in lines:
                for word in set(re.findall(r'\b[A-Z][A-Z_]{2,}\b', line)):
                    seen[f'answer {line.split()[0]} {word}'] += 1
        for name, n in gen.model.counters.items():
            seen[f'counter {name}'] += n
    return seen


def without_source():
    """What of the model has no source."""
    return sources.missing((Model, transport_py.Transport), (model_py, transport_py))


def show_sources(trees):
    for line in sources.table():
        print(line)
    wrong = [*without_source(), *sources.in_tree(trees)] if trees else without_source()
    for line in wrong:
        print(line)
    return bool(wrong)


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--count', type=int, default=1000)
    p.add_argument('--most', type=int, default=1, help='differences to look for')
    p.add_argument('--doorbell', default='trap')
    p.add_argument('--patience', default='60', help='seconds to wait for what does not come')
    p.add_argument('--file')
    p.add_argument('--show', action='store_true', help='print the program, do not run it')
    p.add_argument('--coverage', action='store_true', help='count what programs have')
    p.add_argument('--sources', action='store_true', help='where each rule comes from')
    p.add_argument('--tree', nargs='+', default=[], help='folders with the sources of Linux and rdma-core')
    args = p.parse_args()
    if args.sources:
        return show_sources(args.tree)
    if args.coverage:
        for what, n in sorted(coverage(range(args.seed, args.seed + args.count)).items()):
            print(f'{n:8} {what}')
        return 0
    if args.show:
        for step in Generator(args.seed).program():
            print(step)
        return 0
    with Fabric() as fab:
        if args.file:
            done, bad = from_file(fab, args.file, args.doorbell)
        else:
            done, bad = compare(fab, range(args.seed, args.seed + args.count), args.doorbell,
                                most=args.most, patience=args.patience)
    print(f'{done} programs, {bad} differ')
    return bool(bad)


if __name__ == '__main__':
    sys.exit(main())
