import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLogLine } from '../../../src/formats/logs/parse-log-line.ts';

const CONTEXT = { year: 2024, utcOffset: 120 };
const parse = (line: string, context = CONTEXT) => parseLogLine(line, context);
const SID = '4f'.repeat(32);
const CID = 'c1'.repeat(32);

describe('parseLogLine', () => {
  it('reads a logrus line of containerd 1.4 and later', () => {
    const line = `time="2024-06-26T07:44:44.559390176Z" level=error msg="StopContainer for \\"${CID}\\" failed" error="rpc error: code = DeadlineExceeded desc = an error occurs during waiting for container \\"${CID}\\" to be killed: wait container \\"${CID}\\": context deadline exceeded"`;
    const read = parse(line);
    expect(read).toMatchObject({
      time: expect.closeTo(Date.UTC(2024, 5, 26, 7, 44, 44, 559) + 0.390176, 3),
      format: 'logrus',
      host: null,
      program: null,
      level: 'error',
      message: `StopContainer for "${CID}" failed`,
      raw: line,
    });
    expect(read.fields.get('error')).toBe(
      `rpc error: code = DeadlineExceeded desc = an error occurs during waiting for container "${CID}" to be killed: wait container "${CID}": context deadline exceeded`,
    );
  });

  it('reads a logrus line of containerd 1.2 and 1.3, which did not escape quotes', () => {
    expect(parse(`time="2020-02-12T13:12:54.556721052Z" level=info msg="StopPodSandbox for "${SID}""`)).toMatchObject({
      message: `StopPodSandbox for "${SID}"`,
      level: 'info',
    });
    const read = parse(`time="2020-02-12T13:12:54Z" level=info msg="Kill "a" and "b"" error="no "c" here" id=x`);
    expect(read.message).toBe('Kill "a" and "b"');
    expect([...read.fields]).toEqual([
      ['error', 'no "c" here'],
      ['id', 'x'],
    ]);
  });

  it('takes times with any fraction and zone', () => {
    const at = (time: string) => parse(`time="${time}" level=info msg=x`).time;
    expect(at('2019-04-17T18:57:21Z')).toBe(Date.UTC(2019, 3, 17, 18, 57, 21));
    expect(at('2019-05-16T15:05:02.894-07:00')).toBe(Date.UTC(2019, 4, 16, 22, 5, 2, 894));
    expect(at('2019-05-16T15:05:02.5+08:00')).toBe(Date.UTC(2019, 4, 16, 7, 5, 2, 500));
    expect(at('2019-05-16 22:04:19.073 +0000 UTC')).toBe(Date.UTC(2019, 4, 16, 22, 4, 19, 73));
    expect(at('2019-05-16T15:05:02')).toBe(Date.UTC(2019, 4, 16, 13, 5, 2));
    for (const wrong of ['2019-02-30T00:00:00Z', '2019-01-01T24:00:00Z', 'yesterday', '']) expect(at(wrong)).toBeNull();
  });

  it('reads logrus as it prints to a terminal', () => {
    const read = parse(
      `INFO[2019-04-11T10:39:37.413880563-07:00] shim disconnected                             id=${CID}`,
    );
    expect(read).toMatchObject({
      time: expect.closeTo(Date.UTC(2019, 3, 11, 17, 39, 37, 413) + 0.880563, 3),
      format: 'logrus-tty',
      level: 'info',
      message: 'shim disconnected',
    });
    expect([...read.fields]).toEqual([['id', CID]]);
    expect(parse('DEBU[0000] get runtime connection')).toMatchObject({
      time: null,
      level: 'debug',
      message: 'get runtime connection',
    });
    expect(parse('FATA[0002] stopping the pod sandbox "cd41e8f05c743": rpc error: code = X desc = y z')).toMatchObject({
      level: 'fatal',
      message: 'stopping the pod sandbox "cd41e8f05c743": rpc error: code = X desc = y z',
    });
    const warning = parse(
      '\x1b[33mWARN\x1b[0m[0079] Failed to remove cgroup (will retry)          \x1b[33merror\x1b[0m="rmdir /sys/fs/cgroup/rdma/test: device or resource busy"',
    );
    expect(warning).toMatchObject({ level: 'warning', message: 'Failed to remove cgroup (will retry)' });
    expect(warning.fields.get('error')).toBe('rmdir /sys/fs/cgroup/rdma/test: device or resource busy');
    expect(warning.fields.get('secondsSinceStart')).toBe('79');
  });

  it("reads containerd's JSON, also behind talosctl's host", () => {
    const json = `{"error":"x \\"y\\"","level":"error","msg":"StopContainer for \\"${CID}\\" failed","time":"2024-10-05T13:37:04.971540932Z","attempt":2}`;
    for (const [line, host] of [
      [json, null],
      [`10.5.0.2: ${json}`, '10.5.0.2'],
    ] as const) {
      const read = parse(line);
      expect(read).toMatchObject({
        format: 'json',
        level: 'error',
        message: `StopContainer for "${CID}" failed`,
        host,
      });
      expect(read.time).toBeCloseTo(Date.UTC(2024, 9, 5, 13, 37, 4, 971) + 0.540932, 3);
      expect([...read.fields]).toEqual([
        ['error', 'x "y"'],
        ['attempt', '2'],
      ]);
    }
  });

  it.each([
    [
      `Oct 30 12:25:48 node-1 containerd[15506]: time="2024-10-30T10:25:48Z" level=info msg="a b" id=x`,
      'node-1',
      'containerd',
      15506,
    ],
    [
      `Jun 26 07:44:44 containerd[1891085]: time="2024-10-30T10:25:48Z" level=info msg="a b" id=x`,
      null,
      'containerd',
      1891085,
    ],
    [
      `2023-06-16T10:03:25+0000 node-1 start-containerd.sh[1562]: time="2024-10-30T10:25:48Z" level=info msg="a b" id=x`,
      'node-1',
      'start-containerd.sh',
      1562,
    ],
    [
      `2023-06-16T10:03:25+00:00 node-1 dockerd[4325]: time="2024-10-30T10:25:48Z" level=info msg="a b" id=x`,
      'node-1',
      'dockerd',
      4325,
    ],
    [
      `Oct 30 12:25:48.123456 node-1 containerd[1]: time="2024-10-30T10:25:48Z" level=info msg="a b" id=x`,
      'node-1',
      'containerd',
      1,
    ],
    [
      `Sun 2026-11-29 15:16:11 UTC node-1 containerd[1]: time="2024-10-30T10:25:48Z" level=info msg="a b" id=x`,
      'node-1',
      'containerd',
      1,
    ],
    [
      `1557369652.796014 node-1 containerd[1]: time="2024-10-30T10:25:48Z" level=info msg="a b" id=x`,
      'node-1',
      'containerd',
      1,
    ],
  ])('reads what journalctl puts before a line: %s', (line, host, program, pid) => {
    const read = parse(line);
    expect(read).toMatchObject({
      host,
      program,
      pid,
      format: 'logrus',
      message: 'a b',
      level: 'info',
      time: Date.UTC(2024, 9, 30, 10, 25, 48),
    });
    expect(read.fields.get('id')).toBe('x');
  });

  it('gives a line of a journal its year and zone from the context', () => {
    const line = 'Oct 30 12:25:48 node-1 systemd[1]: Started x';
    expect(parse(line)).toMatchObject({
      time: Date.UTC(2024, 9, 30, 10, 25, 48),
      format: 'syslog',
      program: 'systemd',
      message: 'Started x',
    });
    const january = { ...CONTEXT, notAfter: Date.UTC(2024, 0, 2) };
    expect(parse('Dec 31 23:59:59 a b[1]: c', january).time).toBe(Date.UTC(2023, 11, 31, 21, 59, 59));
    expect(parse('Jan  2 01:00:00 a b[1]: c', january).time).toBe(Date.UTC(2024, 0, 1, 23, 0, 0));
    expect(parse('Feb 30 01:00:00 a b[1]: c').time).toBeNull();
  });

  it('reads entries of journalctl -o json', () => {
    const read = parse(
      JSON.stringify({
        timestamp: 1557369652796,
        PRIORITY: '6',
        _HOSTNAME: 'node-1',
        SYSLOG_IDENTIFIER: 'containerd',
        _PID: '3381',
        MESSAGE: `time="2019-05-09T02:40:52.796014949Z" level=warning msg="shim reaped" id=${CID}`,
      }),
    );
    expect(read).toMatchObject({
      host: 'node-1',
      program: 'containerd',
      pid: 3381,
      level: 'warning',
      message: 'shim reaped',
      format: 'logrus',
    });
    expect(read.fields.get('id')).toBe(CID);
    const bytes = [...Buffer.from('café')];
    expect(
      parse(JSON.stringify({ MESSAGE: bytes, __REALTIME_TIMESTAMP: '1795965371384865', PRIORITY: '3' })),
    ).toMatchObject({
      time: 1795965371384.865,
      level: 'error',
      message: 'café',
      format: 'journal',
    });
    expect(parse('{"MESSAGE":null}')).toMatchObject({ message: '', format: 'journal' });
  });

  it('reads klog, structured and free', () => {
    const structured = parse(
      'E0720 02:47:16.761915   25610 remote_runtime.go:269] "StopPodSandbox from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context \\"deadline\\" exceeded" podSandboxID="cd41e8f05c743" pods=["a/b" "c/d"] n=3',
    );
    expect(structured).toMatchObject({
      time: Date.UTC(2024, 6, 20, 0, 47, 16, 761) + 0.915,
      format: 'klog',
      level: 'error',
      message: 'StopPodSandbox from runtime service failed',
    });
    expect([...structured.fields]).toEqual([
      ['err', 'rpc error: code = DeadlineExceeded desc = context "deadline" exceeded'],
      ['podSandboxID', 'cd41e8f05c743'],
      ['pods', '["a/b" "c/d"]'],
      ['n', '3'],
      ['source', 'remote_runtime.go:269'],
      ['threadId', '25610'],
    ]);
    expect(
      parse(
        'I0729 11:20:59.245243 9575 kubelet.go:1823] skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m57.13889s ago',
      ),
    ).toMatchObject({
      level: 'info',
      message: 'skipping pod synchronization - PLEG is not healthy: pleg was last seen active 3m57.13889s ago',
    });
  });

  it('reads klog in a journal and in /var/log/messages', () => {
    expect(
      parse(
        'Nov 30 16:20:40 node-1 d8-kubelet-forker[1977858]: I1130 16:20:40.229803 1977863 operation_generator.go:788] UnmountVolume.TearDown succeeded',
      ),
    ).toMatchObject({
      host: 'node-1',
      program: 'd8-kubelet-forker',
      pid: 1977858,
      format: 'klog',
      message: 'UnmountVolume.TearDown succeeded',
    });
    expect(
      parse(
        'Apr  8 07:44:29 node-1 kubelet: E0408 07:44:29.444932    6105 pod_workers.go:191] Error syncing pod a ("b"), skipping: c',
      ),
    ).toMatchObject({
      program: 'kubelet',
      pid: null,
      level: 'error',
      message: 'Error syncing pod a ("b"), skipping: c',
    });
    expect(
      parse(
        'Apr  8 07:44:28 node-1 kubelet: {"level":"info","ts":"2021-04-08T07:44:28.615Z","caller":"a","msg":"CNI Plugin version: v1.7.5 ..."}',
      ),
    ).toMatchObject({
      program: 'kubelet',
      format: 'json',
      message: 'CNI Plugin version: v1.7.5 ...',
      time: Date.UTC(2021, 3, 8, 7, 44, 28, 615),
    });
  });

  it('takes the zone of klog from an envelope that has one', () => {
    const journal = (realtimeMs: number) =>
      parse(
        JSON.stringify({
          MESSAGE: 'I1231 23:30:00.250000 1 a.go:1] x',
          __REALTIME_TIMESTAMP: String(realtimeMs * 1000),
        }),
      ).time;
    // A node in Nepal (UTC+5:45) on New Year's eve, read with a wrong zone and year.
    const real = Date.UTC(2023, 11, 31, 17, 45, 0, 250);
    expect(journal(real + 40)).toBe(real);
    // Held up for five minutes: no zone explains it, so the envelope counts.
    expect(journal(real + 300_000)).toBe(real + 300_000);
  });

  it('reads messages of the kernel with all their prefixes', () => {
    const boot = { ...CONTEXT, bootedAt: 1_000_000 } as typeof CONTEXT;
    expect(
      parse('Nov 23 14:32:51 node-1 kernel: [387120.141130] unregister_netdevice: waiting for lo', boot),
    ).toMatchObject({
      program: 'kernel',
      format: 'kernel',
      message: 'unregister_netdevice: waiting for lo',
      time: 1_000_000 + 387120141.13,
    });
    expect(parse('Nov 23 14:32:51 node-1 kernel: [387120.141130] x').time).toBe(Date.UTC(2024, 10, 23, 12, 32, 51));
    expect(
      parse('2023-05-10 15:40:35 node-1 kernel[-] err: [  245.356952] INFO: task kworker/9:0:73 blocked'),
    ).toMatchObject({
      host: 'node-1',
      program: 'kernel',
      pid: null,
      level: 'error',
      message: 'INFO: task kworker/9:0:73 blocked',
      time: Date.UTC(2023, 4, 10, 13, 40, 35),
    });
    expect(
      parse('[Wed Feb 24 00:50:27 2021] dockerd         D ffff942b3fc5acc0     0  1658      1 0x00000080'),
    ).toMatchObject({
      time: Date.UTC(2021, 1, 23, 22, 50, 27),
      message: 'dockerd         D ffff942b3fc5acc0     0  1658      1 0x00000080',
    });
    expect(parse('[So Nov 15 15:59:41 2020] x')).toMatchObject({
      time: Date.UTC(2020, 10, 15, 13, 59, 41),
      message: 'x',
    });
    expect(parse('<4>[2315424.100709]  watchdog+0xad/0xb0')).toMatchObject({
      level: 'warning',
      message: ' watchdog+0xad/0xb0',
    });
    expect(parse('[    69.953197] x')).toMatchObject({ format: 'kernel', message: 'x' });
    const called = parse('[  250.273999][   T58] Call Trace:');
    expect(called.fields.get('caller')).toBe('T58');
    expect(called.message).toBe('Call Trace:');
    expect(parse('kernel: INFO: task jbd2/nvme2n1-8:6604 blocked')).toMatchObject({
      program: 'kernel',
      message: 'INFO: task jbd2/nvme2n1-8:6604 blocked',
    });
  });

  it('reads docker json-file, torn lines too', () => {
    expect(parse('{"log":"Error\\r\\n","stream":"stdout","time":"2015-09-13T03:36:30.120234597Z"}')).toMatchObject({
      format: 'docker-json',
      message: 'Error',
      time: expect.closeTo(Date.UTC(2015, 8, 13, 3, 36, 30, 120) + 0.234597, 3),
    });
    const inner = parse(
      '{"log":"E0720 02:47:16.761915       1 a.go:2] \\"x\\"\\n","stream":"stderr","time":"2024-07-20T00:47:16.8Z"}',
    );
    expect(inner).toMatchObject({ format: 'klog', message: 'x', level: 'error' });
    expect(inner.fields.get('stream')).toBe('stderr');
    expect(parse('{"log":"202{"log":"ERROR a\\n","stream":"stdout","time":"2015-09-13T03:36:30Z"}').message).toBe(
      'ERROR a',
    );
    expect(parse('{"log":"202{"log":"ERROR a')).toMatchObject({
      format: 'unknown',
      message: '{"log":"202{"log":"ERROR a',
    });
  });

  it.each([
    '',
    'hello',
    '-- Logs begin at Wed 2021-07-07 00:10:20 UTC, end at Fri 2021-07-09 10:46:56 UTC. --',
    '{"a":1}',
    '[1,2]',
    '{',
    '=',
    'time=',
    'null',
  ])('keeps %j, which is in no known form or nearly so', line => {
    const read = parse(line);
    expect(read.raw).toBe(line);
    if (read.format === 'unknown') expect(read.message).toBe(line);
  });

  it('never throws, keeps the raw line, and takes its line end off', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'time="',
        'msg="',
        '" ',
        'level=info ',
        '{"log":"',
        'Oct 30 12:25:48 ',
        'a[1]: ',
        '[  1.000000] ',
        'E0720 02:47:16.761915 1 a.go:1] ',
        '"x" a="',
        '\\',
      ),
    );
    fc.assert(
      fc.property(fc.array(part), parts => {
        const line = parts.join('').replaceAll(/[\r\n]/g, ' ');
        expect(parse(`${line}\r\n`).raw).toBe(line);
      }),
      { numRuns: 2000 },
    );
  });

  it('stays linear on lines of 1 MB', () => {
    const heads = [
      '',
      'time="x" msg="',
      'INFO[0000] ',
      'E0720 02:47:16.761915 1 a.go:1] "x" a=',
      'Oct 30 12:25:48 h ',
      '{"log":"',
      'a: {"msg":"',
    ];
    const seeds = ['"', '\\"', '" a=', ' ', ' a="', 'a', '[', '{"log":"', '0', ':', '\x1b['];
    for (const head of heads) {
      for (const seed of seeds) parse(head + seed.repeat(1_000_000 / seed.length));
    }
  }, 60_000);
});
