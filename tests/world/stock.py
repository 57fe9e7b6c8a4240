#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What stock programs do in each world: a table, and the causes. The exit status is 1 if it is not what stock.txt says.

  stock.py [--only GLOB] [--program GLOB] [--json FILE] [--fast]     run them
  stock.py --man                                                     the part of softhca-world(1) that stock.txt is
"""
import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from softhca import PERFTEST, PERFTEST_CLOCK, SOFTHCA, TOP, fabric_dir, port_block, ucx_perftest  # noqa: E402

EXPECTED = os.path.join(TOP, 'tests', 'world', 'stock.txt')

# What an administrator looks up before choosing options, by sysfs: the first port that is ACTIVE, as $DEV and $PORT;
# the entry of its network interface that is best known to others, $GID; a P_Key of full membership, $PKEY; and an
# address for rdma_cm, $ADDR. $P is a TCP port of this run, $W a folder of it.
FIT = r'''
W=$STOCK/${SOFTHCA_DIR##*/}; mkdir -p $W
P=$((STOCK_PORT + ${SOFTHCA_DIR##*-} % 499))
lacks() { echo "$*"; exit 77; }
get() { X=; { read -r X <$1; } 2>&-; [ "$X" ]; }
active() {
    for p in /sys/class/infiniband/*/ports/*; do
        get $p/state && [ "$X" = '4: ACTIVE' ] && return 0
    done
    return 1
}
choose_gid() {
    GID=0 best=0 i=0
    get $p/link_layer && [ $X = Ethernet ] || return 0
    while [ -e $p/gids/$i ]; do
        if get $p/gid_attrs/types/$i && [ "$X" = 'RoCE v2' ] && get $p/gid_attrs/ndevs/$i && [ $X = $NET ]; then
            get $p/gids/$i
            case $X in
            0000:0000:0000:0000:0000:ffff:*) r=3 ;;
            fe80:*) r=1 ;;
            *) r=2 ;;
            esac
            [ $r -le $best ] || { GID=$i best=$r; }
        fi
        i=$((i + 1))
    done
}
choose_pkey() {
    PKEY= i=0
    while [ -z "$PKEY" ] && get $p/pkeys/$i; do
        [ $((X & 0x8000)) = 0 ] || PKEY=$i
        i=$((i + 1))
    done
    [ "$PKEY" ] || lacks 'the port is a limited member of all its partitions'
}
fit() {
    set -- /sys/class/infiniband/*
    [ -e $1 ] || lacks 'there is no adapter'
    until active; do sleep 0.1; done  # a shell reads no events of ports
    PORT=${p##*/} DEV=${p%/ports/*} DEV=${DEV##*/}
    for n in /sys/class/infiniband/$DEV/device/net/*; do
        get $n/dev_port && [ $((X + 1)) = $PORT ] && NET=${n##*/}
    done
    choose_gid
    choose_pkey
    MTU=$(ibv_devinfo -d $DEV -i $PORT | sed -n 's/.*active_mtu:[ \t]*\([0-9]*\).*/\1/p')
    ADDR=$(ip -o addr show dev $NET 2>&- | sed -n 's/.*inet6* \([^/]*\).*/\1/p' | head -n 1)
    case $ADDR in fe80:*) ADDR=$ADDR%$NET ;; esac
}
# The server tells its address, as the client is on another host.
tell() { [ "$ADDR" ] || lacks "interface $NET has no address"; echo $ADDR >$W/address; }
server() { cat $W/address; }
'''
OPTIONS = '-d $DEV -i $PORT -x $GID --pkey_index=$PKEY'


def two(command, client=' localhost'):
    """Both ends of a program: its server, and its client, which is the same with the server's address."""
    return command, command + client


def perftest(program):
    """Its buffer is of the size of a message, and a page of a container's memory may be locked."""
    return two(f'fit; {program} -F -n 20 -s 128 -p $P {OPTIONS}')


# UCX would take the memory of the machine, on which both hosts are.
UCX = ('-t', 'tag_lat', '-n', '20', '-w', '5', '-p', '$P')
UCX = f'UCX_TLS=^sm {" ".join(ucx_perftest(*UCX) if shutil.which("ucx_perftest") else UCX)}'
PINGPONG = 'ibv_rc_pingpong -n 20 -p $P'
FI = 'fi_pingpong -p verbs -e msg -I 2 -S 64'
# Name: a command, or those of two ends, as users start it without a thought, and fitting. Those of FAST take less than
# 0.2 s in a world. Not there: perftest with -R, whose client connects a second time while its server does not listen
# (REJECTED, 8), and dies of that.
FAST = {
    'ibv_devinfo': 'ibv_devinfo -v',
    'ibstat': 'ibstat',
    'rdma': 'rdma link && rdma dev && rdma resource',
}
SLOW = {
    'ibv_rc_pingpong': two(PINGPONG),
    'ibv_rc_pingpong fitting': two(f'fit; {PINGPONG} -r 100 -m $MTU -d $DEV -i $PORT -g $GID'),
    'ib_send_bw': two('ib_send_bw -F -n 20 -p $P'),
    'ib_send_bw fitting': perftest('ib_send_bw'),
    'ib_send_lat UD fitting': perftest('ib_send_lat -c UD'),
    'ib_write_lat UC fitting': perftest('ib_write_lat -c UC'),
    'ib_write_lat fitting': perftest('ib_write_lat'),
    'ib_read_bw fitting': perftest('ib_read_bw'),
    'ib_atomic_lat fitting': two(f'fit; ib_atomic_lat -F -n 20 -p $P {OPTIONS}'),
    'rping': ('fit; tell; rping -s -a $ADDR -C 3 -V', 'fit; rping -c -a $(server) -C 3 -V'),
    'ucx_perftest': two(UCX),
    'fi_pingpong': (f'{FI} -B $P', f'{FI} -P $P localhost'),
}


def words(name):
    return name.split()[0]


def run(name, command, args, env):
    """The result in each world: {world: object of `softhca world --json`}."""
    pair = isinstance(command, tuple)
    options = ['--timeout', str(args.timeout), '-j', str(args.jobs)]
    options += ['--only', args.only] if args.only else []
    if pair:
        options += ['--hosts', '2', '--require-traffic', '--pair', FIT + command[0]]
    argv = ['sh', '-c', FIT + (command[1] if pair else command)]
    r = subprocess.run([SOFTHCA, 'world', '--all', '-v', '--json', '-', *options, '--', *argv], env=env,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, errors='replace')
    if r.returncode not in (0, 1):
        sys.exit(f'{name}: softhca world: status {r.returncode}')
    return {w['world']: w for w in json.loads(r.stdout)['worlds']}


def result(w):
    return 'passed' if w['result'] == 'unused' else w['result']


def told(w):
    """What is known of a run, each line once."""
    lines = [w['detail'], *(c['cause'] for c in w['causes']), w['cause'], w['last_line'], *w['stood']]
    return [t for t in dict.fromkeys(lines) if t]


def expected():
    """The rows of stock.txt: lists of globs, the result, what is told, and why."""
    rows = []
    with open(EXPECTED, encoding='utf-8') as f:
        for line in f:
            if not line.startswith('#'):
                worlds, programs, what, cause, why = (field.strip() for field in f'{line.rstrip()} '.split(' | '))
                rows.append((worlds.split(', '), programs.split(', '), what, cause, why))
    return rows


def fits(name, globs):
    return any(fnmatch.fnmatchcase(name, g) for g in globs)


def wrong(found):
    """What is not as stock.txt says: lines."""
    rows, lines = expected(), []
    for program, results in found.items():
        for w in results.values():
            row = next((r for r in rows if fits(w['world'], r[0]) and fits(program, r[1])), [None, None, 'passed', '-'])
            want, cause = row[2:4]
            known = cause == '-' or any(re.search(cause, t) for t in [w['output'], *told(w)])
            if result(w) not in want.split(' or ') or not known:
                lines.append(f'{w["world"]}: {program}: {result(w)}, expected {want} ({cause}): {" / ".join(told(w))}')
    return lines


def manual():
    """The worlds in which something does not pass, with the programs and why, in mdoc(7)."""
    with open(os.path.join(TOP, 'src', 'world', 'worlds.c'), encoding='utf-8') as f:
        worlds = re.findall(r'^\t\{"([a-z0-9-]+)",$', f.read(), re.M)
    rows = [r for r in expected() if r[4]]
    quiet = [w for w in worlds if not any(fits(w, r[0]) for r in rows)]
    lines = ['.Bl -tag -width Ds', f'.It Sy {" , ".join(quiet)}', 'All of them pass.']
    head = None
    for of, programs, _, _, why in rows:
        names = ' , '.join(programs).replace('*', 'all' if programs == ['*'] else '...')
        lines += [f'.It Sy {" , ".join(of)}'] if of != head else ['.Pp']
        lines += [f'.Em {names} :', *why.replace('. ', '.\n').split('\n')]
        head = of
    return '\n'.join([*lines, '.El'])


def table(found):
    """world x program, as text; then what is told of each that has not passed."""
    names = list(found)
    worlds = list(dict.fromkeys(w for results in found.values() for w in results))
    short = {'passed': 'ok', 'skipped': 'lacks', 'failed': 'FAILED', 'hung': 'HUNG'}
    width = max(map(len, worlds))
    lines = [f'{chr(ord("A") + i)}: {n}' for i, n in enumerate(names)]
    lines += ['', ' ' * width + ''.join(f'  {chr(ord("A") + i):6}' for i in range(len(names)))]
    for w in worlds:
        lines += [(f'{w:{width}}' + ''.join(f'  {short[result(found[n][w])]:6}' for n in names)).rstrip()]
    lines += ['']
    for w in worlds:
        lines += [f'{w} | {n} | {result(found[n][w])}: {" / ".join(told(found[n][w]))}'
                  for n in names if result(found[n][w]) != 'passed']
    return '\n'.join(lines)


def run_all(programs, args):
    found = {}
    env = dict(os.environ, SOFTHCA_RUNTIME_DIR=fabric_dir(), STOCK=tempfile.mkdtemp(prefix='softhca-stock-'),
               STOCK_PORT=str(port_block()))
    # Only for perftest: UCX takes the clock for the processor's frequency, and times out at once.
    clock = dict(env, LD_PRELOAD=PERFTEST_CLOCK) if os.path.exists(PERFTEST_CLOCK) else env
    try:
        for name, command in programs.items():
            missing = [] if shutil.which(words(name)) else [words(name)]
            if missing:
                print(f'{name}: not installed', file=sys.stderr)
                continue
            found[name] = run(name, command, args, clock if PERFTEST.match(name) else env)
            print(f'{name}: {sum(w["seconds"] for w in found[name].values()):.1f} s', file=sys.stderr)
    finally:
        shutil.rmtree(env['SOFTHCA_RUNTIME_DIR'])
        shutil.rmtree(env['STOCK'])
    return found


def is_debian_12():
    with open('/etc/os-release', encoding='utf-8') as f:
        text = f.read()
    return 'ID=debian\n' in text and 'VERSION_ID="12"' in text


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    p.add_argument('--only', help='only worlds whose name or group fits')
    p.add_argument('--program', default='*', help='only programs whose name fits')
    p.add_argument('--fast', action='store_true', help='only those that take less than 0.2 s in a world')
    p.add_argument('--json', metavar='FILE', help='all that is known of each run')
    p.add_argument('--timeout', type=int, default=60)
    p.add_argument('-j', '--jobs', type=int, default=2)
    p.add_argument('--man', action='store_true')
    args = p.parse_args()
    if args.man:
        print(manual())
        return 0
    programs = FAST if args.fast else {**FAST, **SLOW}
    found = run_all({n: c for n, c in programs.items() if fnmatch.fnmatch(n, args.program)}, args)
    print(table(found))
    if args.json:
        with open(args.json, 'w', encoding='utf-8') as f:
            json.dump(found, f, indent=1)
    lines = wrong(found)
    print('\n'.join(['', *(lines or ['as tests/world/stock.txt says'])]))
    if lines and not args.fast and not is_debian_12():
        print('the expectations are for the programs of Debian 12')
        return 77
    return 1 if lines else 0


if __name__ == '__main__':
    sys.exit(main())
