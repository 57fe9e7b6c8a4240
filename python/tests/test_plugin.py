# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The plugin in test suites of its own: each test here runs pytest on a file that it writes."""
import os
import subprocess

import pytest

SOFTHCA = os.environ.get('SOFTHCA', 'softhca')


@pytest.fixture(autouse=True)
def own_directory(monkeypatch, tmp_path_factory):
    monkeypatch.setenv('SOFTHCA_RUNTIME_DIR', str(tmp_path_factory.mktemp('run')))
    yield
    assert subprocess.run([SOFTHCA, 'status'], capture_output=True, errors='replace').stdout == 'no fabric is up\n'


def test_a_test_has_a_fabric(pytester):
    pytester.makepyfile('''
        def test_devices(softhca_fabric):
            out = softhca_fabric.run(['ibv_devices']).stdout
            assert 'mlx5_0' in out
            assert [h.name for h in softhca_fabric.hosts] == ['h1']
            assert softhca_fabric.status()['fabric'] == softhca_fabric.name
            assert softhca_fabric.run(['sh', '-c', 'exit 3'], check=False).returncode == 3
    ''')
    pytester.runpytest_subprocess('-p', 'pytest_softhca').assert_outcomes(passed=1)


def test_markers_choose_the_fabric(pytester):
    pytester.makepyfile('''
        import pytest
        pytestmark = pytest.mark.softhca(hosts=2, device='cx7')

        def ports(fabric):
            return [len(hca['ports']) for host in fabric.status()['hosts'] for hca in host['hcas']]

        def test_module(softhca_fabric):
            assert ports(softhca_fabric) == [1, 1]

        @pytest.mark.softhca(hosts=1, ports=2)
        def test_nearest_wins(softhca_fabric):
            assert ports(softhca_fabric) == [2]

        @pytest.mark.softhca(link='eth', ip=['h1=10.0.0.1', 'h2=10.0.0.2'])
        def test_a_list_is_several_options(softhca_fabric):
            for n, host in enumerate(softhca_fabric.hosts, 1):
                assert f'10.0.0.{n}' in host.run(['ip', 'addr']).stdout
    ''')
    pytester.runpytest_subprocess('-p', 'pytest_softhca', '--strict-markers').assert_outcomes(passed=3)


def test_two_hosts_talk(pytester):
    pytester.makepyfile('''
        import pytest, socket

        @pytest.mark.softhca(hosts=2)
        def test_pingpong(softhca_fabric):
            with socket.socket() as s:
                s.bind(('', 0))
                port = s.getsockname()[1]
            h1, h2 = softhca_fabric.hosts
            server = h1.popen(['ibv_rc_pingpong', '-n', 10, '-p', port])
            softhca_fabric.wait_listening(port, server)
            h2.run(['ibv_rc_pingpong', '-n', 10, '-p', port, 'localhost'])
            assert server.wait() == 0
            ports = [p for h in softhca_fabric.status()['hosts'] for c in h['hcas'] for p in c['ports']]
            assert all(p['xmit_packets'] > 10 for p in ports)

        def test_nobody_listens(softhca_fabric):
            with socket.socket() as s:
                s.bind(('', 0))
                port = s.getsockname()[1]
                softhca_fabric.wait_listening(port, softhca_fabric.popen(['false']))
    ''')
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca')
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['*nothing listens on port*has ended with 1*'])


def test_a_link_goes_down_and_up(pytester):
    pytester.makepyfile('''
        def test_link(softhca_fabric):
            state = lambda: softhca_fabric.status()['hosts'][0]['hcas'][0]['ports'][0]['state']
            softhca_fabric.link('mlx5_0', 1, 'down')
            assert state() == 'DOWN', state()
            softhca_fabric.link('mlx5_0', 1, 'up')
    ''')
    pytester.runpytest_subprocess('-p', 'pytest_softhca').assert_outcomes(passed=1)


def test_what_still_runs_is_killed(pytester):
    pytester.makepyfile('''
        def test_server(softhca_fabric):
            print(softhca_fabric.popen(['sleep', 'infinity']).pid)
    ''')
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca', '-rP')
    result.assert_outcomes(passed=1)
    pid = next(line for line in result.outlines if line.isdigit())
    assert not os.path.exists(f'/proc/{pid}')


def test_a_failure_shows_the_output(pytester):
    pytester.makepyfile('''
        def test_fails(softhca_fabric):
            softhca_fabric.run(['sh', '-c', 'echo to the reader; exit 5'])
    ''')
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca')
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*on h1: exit status 5', 'to the reader'])


def test_refusals_are_told(pytester):
    pytester.makepyfile('''
        import pytest

        @pytest.mark.softhca(hosts=0)
        def test_no_host(softhca_fabric):
            pass

        @pytest.mark.softhca('cx7')
        def test_without_a_name(softhca_fabric):
            pass
    ''')
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca')
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*--hosts: '0' is not a number*", '*named options only*'])
    pytester.makepyfile('def test_it(softhca_fabric): pass')
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca', '--softhca', '/no/such/program')
    result.assert_outcomes(errors=1)


def test_artifacts_of_failures_are_kept(pytester):
    pytester.makepyfile('''
        import pytest

        @pytest.mark.parametrize('status', [0, 1])
        def test_it(softhca_fabric, status):
            softhca_fabric.run(['sh', '-c', 'saquery >/dev/null; ibv_devinfo; exit %d' % status])
    ''')
    pytester.runpytest_subprocess('-p', 'pytest_softhca', '--softhca-artifacts', 'kept').assert_outcomes(
        passed=1, failed=1)
    found = os.listdir('kept')
    assert len(found) == 1 and found[0].endswith('test_it-1-')
    with open(os.path.join('kept', found[0], 'trace.txt'), encoding='utf-8') as f:
        assert 'QUERY_PORT' in f.read().upper()
    with open(os.path.join('kept', found[0], 'packets.pcap'), 'rb') as f:
        assert len(f.read()) > 24  # more than the heading


def test_a_fabric_has_worlds(pytester):
    pytester.makepyfile("""
        def test_world(softhca_fabric):
            show = ['cat', '/sys/class/infiniband/mlx5_0/ports/1/pkeys/0']
            assert softhca_fabric.run(show).stdout == '0xffff\\n'
            other = softhca_fabric.world('pkey-shifted')
            assert other.run(show).stdout == '0x8001\\n'
            assert other.status()['worlds'] == ['pkey-shifted']
    """)
    pytester.runpytest_subprocess('-p', 'pytest_softhca').assert_outcomes(passed=1)


def test_a_test_runs_in_every_world(pytester):
    pytester.makepyfile("""
        import pytest

        @pytest.mark.softhca(link='ib')
        def test_index_0(every_world):
            assert every_world.run(['cat', '/sys/class/infiniband/mlx5_0/ports/1/pkeys/0']).stdout == '0xffff\\n'
    """)
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca', '-rA')
    result.stdout.fnmatch_lines_random(['PASSED *test_index_0?default?', 'FAILED *test_index_0?pkey-shifted?*',
                                        'SKIPPED * --world gid-v2-only needs Ethernet*',
                                        'pkey-shifted: P_Key 0xffff is at index 1, *'])


def test_a_command_may_lack_something_in_a_world(pytester):
    """Status 77 is a skip there, with the last line as reason; a failure shows what the fabric knows of it."""
    pytester.makepyfile("""
        LACKS = ['sh', '-c', 'echo begun; echo no SRQs >&2; exit 77']

        def test_it(softhca_fabric):
            softhca_fabric.world('no-srq').run(LACKS)

        def test_the_usual_host(softhca_fabric):
            softhca_fabric.run(LACKS)

        def test_srq(softhca_fabric):
            softhca_fabric.world('no-srq').run(['ibv_srq_pingpong'])
    """)
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca', '-rA')
    result.stdout.fnmatch_lines_random(['SKIPPED *: no SRQs', 'FAILED *test_the_usual_host*',
                                        'no-srq: no shared receive queues*',
                                        'refused: CREATE_SRQ of mlx5_0: EOPNOTSUPP: the device does not support it'])
    result.assert_outcomes(skipped=1, failed=2)


def test_faults_on_purpose(pytester):
    pytester.makepyfile('''
        import pytest

        def test_one_device_too_few(softhca_fabric):
            rule = softhca_fabric.inject('ibv_alloc_pd:error=ENOMEM:when=1')
            assert rule.fired == 0
            done = softhca_fabric.run(['ibv_rc_pingpong'], check=False)
            assert done.returncode and "Couldn't allocate PD" in done.stderr
            assert rule.fired == 1
            with softhca_fabric.inject('fw:status=BAD_PARAM:when=1000') as other:
                assert other.number != rule.number
            with pytest.raises(ValueError, match='there is no place'):
                softhca_fabric.inject('nothing:lost')
    ''')
    pytester.runpytest_subprocess('-p', 'pytest_softhca').assert_outcomes(passed=1)


def test_faults_and_time_scale_of_a_marker(pytester):
    pytester.makepyfile('''
        import pytest

        @pytest.mark.softhca(inject=['ibv_alloc_pd:error=ENOMEM', 'ibv_alloc_mw:error=EIO'], seed=7, time_scale=20)
        def test_one_never_fires(softhca_fabric):
            up = softhca_fabric.status()
            assert (up['time_scale'], len(up['faults'])) == (20, 2)
            assert softhca_fabric.run(['ibv_rc_pingpong'], check=False).returncode
            softhca_fabric.inject('ibv_alloc_dm:error=EIO')

        @pytest.mark.softhca(inject='ibv_alloc_mw:error=EIO', inject_unused='ok')
        def test_so_what(softhca_fabric):
            pass

        @pytest.mark.softhca(inject='ibv_alloc_mw:error=EIO')
        def test_fails_by_itself(softhca_fabric):
            assert False

        @pytest.mark.softhca(time_scale=0)
        def test_wrong(softhca_fabric):
            pass
    ''')
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca')
    result.assert_outcomes(passed=2, failed=1, errors=2)
    out = result.stdout.str()
    assert out.count('never fired: ibv_alloc_mw:error=EIO') == 1 and 'never fired: ibv_alloc_dm' not in out
    assert "--time-scale: '0' is not a number from 0.001 to 1000" in out


WRONG_KEY = os.path.join(os.path.dirname(SOFTHCA), 'tests', 'check', 'lkey_range_wrong')


def test_a_broken_rule_fails_a_test(pytester):
    pytester.makefile('.txt', known='lkey main\n')
    pytester.makepyfile(f'''
        import pytest

        def test_in_the_shade(softhca_fabric):
            softhca_fabric.run(['{WRONG_KEY}'])
            assert softhca_fabric.reports == []

        @pytest.mark.softhca(check=True)
        def test_broken(softhca_fabric):
            softhca_fabric.run(['{WRONG_KEY}'])
            assert [r['rule'] for r in softhca_fabric.reports] == ['lkey']

        @pytest.mark.softhca(check='error')
        def test_only_a_warning(softhca_fabric):
            softhca_fabric.run(['{WRONG_KEY.replace('lkey_range', 'timeout_zero')}'])

        @pytest.mark.softhca(check='note', suppress='known.txt')
        def test_known(softhca_fabric):
            softhca_fabric.run(['{WRONG_KEY}'])

        @pytest.mark.softhca(check='error')
        def test_it_still_runs(softhca_fabric):
            p = softhca_fabric.popen(['sh', '-c', '{WRONG_KEY} >&2; echo; trap "exit 0" TERM; while :; do sleep 0.1; done'],
                                     stdout=-1)
            p.stdout.readline()

        @pytest.mark.softhca(check=True)
        def test_fails_by_itself(softhca_fabric):
            softhca_fabric.run(['{WRONG_KEY}'])
            assert False

        @pytest.mark.softhca(check='worse')
        def test_wrong(softhca_fabric):
            pass
    ''')
    result = pytester.runpytest_subprocess('-p', 'pytest_softhca')
    result.assert_outcomes(passed=5, failed=1, errors=3)
    out = result.stdout.str()
    assert out.count('softhca: check: error lkey: ') >= 3 and '    main (' in out
    assert "the marker's check is True, False, 'error', 'warning' or 'note', not 'worse'" in out


def test_all_tests_are_checked(pytester):
    pytester.makepyfile(f'''
        import pytest

        def test_broken(softhca_fabric):
            softhca_fabric.run(['{WRONG_KEY}'])

        @pytest.mark.softhca(check=False)
        def test_excluded(softhca_fabric):
            softhca_fabric.run(['{WRONG_KEY}'])
    ''')
    pytester.runpytest_subprocess('-p', 'pytest_softhca', '--softhca-check', 'warning').assert_outcomes(passed=2, errors=1)
