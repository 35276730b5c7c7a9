import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { type DoctorDocument, examine } from '../../../src/capture/doctor/doctor.ts';
import { doctorWords } from '../../../src/cli/doctor-words.ts';
import { type Answer, type Content, PaperHost } from '../../collectors/paper-host.ts';

const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, '../../../schemas/doctor.schema.json'), 'utf8'));
const isDocument = new Ajv2020({ formats: { 'date-time': true } }).compile(SCHEMA);

const CONTAINERD = 812;
const MOUNTS = [
  '1 0 254:0 / / rw - ext4 /dev/vda rw',
  '2 1 0:5 / /proc rw - proc proc rw',
  '3 1 0:21 / /run rw - tmpfs tmpfs rw',
  '4 1 0:22 / /dev/shm rw - tmpfs tmpfs rw',
  '5 1 259:0 / /var/lib/containerd rw - xfs /dev/nvme1n1 rw',
];

/** A node that allows everything: its containerd has a disk of its own, and logs into a file. */
const NODE: Readonly<Record<string, Content>> = {
  '/proc/self/status': 'Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n',
  '/proc/1/comm': 'systemd\n',
  '/proc/2/comm': 'kthreadd\n',
  '/proc/self/stack': '[<0>] proc_pid_stack+0x90/0xf0\n',
  '/proc/self/syscall': '0 0x3 0x7ffc\n',
  '/proc/self/sched': 'node (4711, #threads: 7)\n',
  '/proc/pressure/io': 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n',
  '/dev/kmsg': '[    0.000000] Linux version 6.1\n',
  '/proc/self/exe': { link: '/usr/local/bin/stallcap' },
  '/proc/self/mountinfo': `${MOUNTS.join('\n')}\n`,
  '/sys/block/vda/dev': '254:0\n',
  '/sys/block/vda/size': '1024\n',
  '/sys/block/nvme1n1/dev': '259:0\n',
  '/sys/block/nvme1n1/size': '1024\n',
  '/var/lib/containerd': '(a directory)',
  '/run': `${4 * 1024 ** 3} ${0x01021994}`,
  '/dev/shm': `${4 * 1024 ** 3} ${0x01021994}`,
  [`/proc/${CONTAINERD}/cmdline`]: '/usr/bin/containerd\0',
  [`/proc/${CONTAINERD}/stat`]: `${CONTAINERD} (containerd) S 1 ${'0 '.repeat(48)}\n`,
  [`/proc/${CONTAINERD}/status`]: 'Name:\tcontainerd\nState:\tS (sleeping)\nPPid:\t1\nThreads:\t12\n',
  [`/proc/${CONTAINERD}/fd/2`]: { link: '/var/log/containerd.log' },
  '/var/log/containerd.log': 'time="2026-11-29T11:42:33Z" level=info msg=hello\n',
};

const tool = (argv: readonly string[]): Answer => ({ stdout: `${argv[0]} from procps-ng 4.0.2\n` });

async function examined(
  files: Readonly<Record<string, Content | undefined>> = {},
  answer: PaperHost['answer'] = tool,
): Promise<DoctorDocument> {
  const all = Object.entries({ ...NODE, ...files }).flatMap(([path, content]) =>
    content === undefined ? [] : [[path, content] as const],
  );
  const paper = new PaperHost(Object.fromEntries(all));
  paper.processes.set(CONTAINERD, 'containerd').set(1, 'systemd').set(2, 'kthreadd');
  paper.answer = answer;
  const document = await examine(paper.host, null);
  isDocument(document);
  expect(isDocument.errors).toBeNull();
  return document;
}

const notOk = ({ checks }: DoctorDocument) =>
  checks.filter(({ outcome }) => outcome !== 'ok').map(({ name, outcome }) => `${outcome} ${name}`);

describe('doctor', () => {
  it('lacks nothing on a node that allows everything, and says that a grab can be complete', async () => {
    const document = await examined();
    expect(notOk(document)).toEqual([]);
    expect(document.exitCode).toBe(0);
    expect(document.checks.find(({ name }) => name === 'log-sink')?.says).toContain('/var/log/containerd.log');
    expect(doctorWords(document)).toMatch(/^ok {4}binary: .*\n(?:ok .*\n)+A grab on this node can be complete\.\n$/m);
  });

  it('says of a node without containerd that there is no pod to grab', async () => {
    const { checks, ...rest } = await examined();
    const none = { name: 'containerd', outcome: 'warn', says: 'No containerd runs here.' } as const;
    expect(doctorWords({ ...rest, checks: [...checks, none] })).toMatch(/^There is no containerd here, and so no pod/m);
  });

  it.each([
    ['a kernel without stacks', { '/proc/self/stack': undefined }, 'warn stack'],
    ['a kernel without pressure information', { '/proc/pressure/io': undefined }, 'warn psi'],
    ['a kernel log that is denied', { '/dev/kmsg': { outcome: 'denied', detail: 'EPERM' } }, 'lacks kmsg'],
    ["containerd's disk that does not answer", { '/var/lib/containerd': { outcome: 'timeout' } }, 'lacks root'],
    [
      "an executable on containerd's disk",
      { '/proc/self/exe': { link: '/var/lib/containerd/stallcap' } },
      'warn binary',
    ],
    ['mounts that cannot be read', { '/proc/self/mountinfo': { outcome: 'timeout' } }, 'lacks disks'],
    [
      'a log that does not answer',
      { '/var/log/containerd.log': { outcome: 'timeout', detail: 'no answer' } },
      'lacks log-sink',
    ],
    ['a log that goes nowhere', { [`/proc/${CONTAINERD}/fd/2`]: { link: '/dev/null' } }, 'warn log-sink'],
  ] as const)('%s is %s', async (_, files, found) => {
    const document = await examined(files);
    expect(notOk(document)).toEqual([found]);
    expect(document.exitCode).toBe(found.startsWith('lacks') ? 3 : 0);
  });

  it.each([
    ['that is not installed', { outcome: 'absent' }, ['warn crictl']],
    ['that hangs when it is started', { outcome: 'timeout', detail: 'no end within 1500 ms' }, ['lacks crictl']],
    ['that only knows other options', { outcome: 'error', exitCode: 1, stderr: 'crictl: unknown option' }, []],
  ] as const)('a tool %s', async (_, answer, found) => {
    const document = await examined({}, argv => (argv[0] === 'crictl' ? answer : tool(argv)));
    expect(notOk(document)).toEqual(found);
  });

  it("busybox's ps is not the one that is needed", async () => {
    const busybox = { outcome: 'error', exitCode: 1, stderr: "ps: unrecognized option '--version'" } as const;
    const document = await examined({}, argv => (argv[0] === 'ps' ? busybox : tool(argv)));
    expect(notOk(document)).toEqual(['warn ps']);
  });

  it('little room in memory is said', async () => {
    const small = { '/run': `${9 << 20} ${0x01021994}`, '/dev/shm': `${9 << 20} ${0x01021994}` };
    expect(notOk(await examined(small))).toEqual(['warn room-run', 'warn room-dev-shm']);
  });

  it('what is lacking makes exit code 3 and a line with what to do, harmless to a terminal', async () => {
    const document = await examined({
      '/proc/self/status': 'Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n',
      '/proc/self/exe': { link: '/var/lib/containerd/\u001b[2Jx' },
    });
    expect(document.exitCode).toBe(3);
    const words = doctorWords(document);
    expect(words).toMatch(
      /^LACKS cap-sys-admin: CAP_SYS_ADMIN is missing: kernel stacks are denied\n {6}→ Run it as root\.$/m,
    );
    expect(words).toMatch(/\nA grab on this node will be incomplete: 5 lacking\.\n$/);
    expect(words).not.toContain('\u001b');
  });
});
