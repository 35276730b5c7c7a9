import { parseStatus } from '../../formats/proc/status.ts';
import type { Host } from '../../host/port.ts';
import { type Check, lacks, ok, warn } from './check.ts';

/** Bits of linux/capability.h, and what a grab lacks without each. */
const NEEDED: readonly { readonly name: string; readonly bit: number; readonly without: string }[] = [
  { name: 'CAP_SYS_PTRACE', bit: 19, without: 'links, descriptors and system calls of other processes are denied' },
  { name: 'CAP_SYS_ADMIN', bit: 21, without: 'kernel stacks are denied' },
  { name: 'CAP_SYSLOG', bit: 34, without: "the kernel's log may be denied" },
  { name: 'CAP_DAC_READ_SEARCH', bit: 2, without: 'state directories and logs that others may not read are denied' },
  { name: 'CAP_KILL', bit: 5, without: 'a shim of another user cannot be asked for its goroutines' },
];
/** May read and search all that CAP_DAC_READ_SEARCH may. */
const DAC_OVERRIDE = 1;

/** Capabilities of this process, and whether /proc shows the processes of others, and lets their stacks be read. */
export function rights(host: Pick<Host, 'read'>): readonly Check[] {
  const { fields, uid } = parseStatus(host.read('/proc/self/status').body.toString('utf8'));
  const effective = BigInt(`0x${fields.get('CapEff')?.trim() || '0'}`);
  const has = (bit: number) => ((effective >> BigInt(bit)) & 1n) === 1n;
  // Who lacks one as root is in a container.
  const next = uid[1] === 0 ? 'In a pod: securityContext.privileged: true' : 'Run it as root.';
  const capabilities = NEEDED.map(({ name, bit, without }): Check => {
    const there = has(bit) || (name === 'CAP_DAC_READ_SEARCH' && has(DAC_OVERRIDE));
    const check = name.toLowerCase().replaceAll('_', '-');
    return there ? ok(check, `${name} is there`) : lacks(check, `${name} is missing: ${without}`, next);
  });
  return [...capabilities, attaching(host), processes(host, `uid ${uid[1] ?? '?'}`)];
}

const YAMA = '/proc/sys/kernel/yama/ptrace_scope';

/** Stacks and system calls are open to whoever may attach. Documentation/admin-guide/LSM/Yama.rst: 3 is for nobody, till the next boot. */
function attaching(host: Pick<Host, 'read'>): Check {
  const scope = host.read(YAMA).body.toString('utf8').trim();
  if (scope !== '3') return ok('ptrace-scope', 'no setting of Yama forbids kernel stacks to root');
  const says = 'kernel.yama.ptrace_scope is 3: kernel stacks and system calls are denied to root as well';
  return lacks('ptrace-scope', says, 'It can only be lowered by a boot with another value.');
}

/** Pid 2 is the kernel's own in the first pid namespace alone. In kind, a node is a namespace of its own as well. */
function processes(host: Pick<Host, 'read'>, who: string): Check {
  if (host.read('/proc/1/comm').outcome === 'gone')
    return lacks('processes', `/proc hides the processes of others from ${who} (hidepid)`, 'Run it as root.');
  const second = host.read('/proc/2/comm').body.toString('utf8').trim();
  if (second === 'kthreadd') return ok('processes', `/proc shows the processes of others to ${who}`);
  return warn(
    'processes',
    'This is a pid namespace of its own: no shim outside of it is seen.',
    'In a pod that is to look at its node, set hostPID: true.',
  );
}
