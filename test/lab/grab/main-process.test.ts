import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { RUNTIME_PATHS, STALLCAP } from '../../build/dist.ts';
import { startContainerd } from '../containerd.ts';
import { during } from '../during.ts';
import type { Pod } from '../pod.ts';
import { labUnavailable } from '../requirements.ts';
import { unescaped } from '../strace.ts';
import { grab } from './grab.ts';

/** A system call of one of the main process's threads, in the order of the trace. */
interface Call {
  readonly at: number;
  readonly name: string;
  readonly text: string;
  /** First argument that is a string. */
  readonly path: string | null;
}

const NEW_THREAD = /\bCLONE_THREAD\b/;
const LINE = /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$/;

/** What `strace -f -o` wrote of the process that it started, its own threads included, its children not. */
function callsOfMain(trace: string): readonly Call[] {
  const lines = trace.split('\n').filter(line => line !== '');
  const own = new Set([lines[0]?.split(' ')[0] ?? '']);
  const threadsBegun = new Set<string>();
  return lines.flatMap((line, at) => {
    const [, pid = '', resumed, began, rest = ''] = LINE.exec(line) ?? [];
    if (!own.has(pid)) return [];
    if (began?.startsWith('clone') && NEW_THREAD.test(rest)) threadsBegun.add(pid);
    const result = / = (\d+)$/.exec(rest)?.[1];
    if ((began ?? resumed)?.startsWith('clone') && result !== undefined && threadsBegun.delete(pid)) own.add(result);
    if (began === undefined) return [];
    const path = /^[^"]*"((?:[^"\\]|\\.)*)"/.exec(rest)?.[1];
    return [{ at, name: began, text: rest, path: path === undefined ? null : unescaped(path) }];
  });
}

describe.skipIf(labUnavailable())('the main process of a grab', () => {
  let calls: readonly Call[];
  let pod: Pod;
  let initPid: number;
  /** Threads that the shim had at the first look; later it may start more. */
  let looked: readonly number[];
  beforeAll(() =>
    during(startContainerd(), async containerd => {
      pod = await containerd.runPod({ name: `cart-${process.pid}`, namespace: 'shop' });
      ({ initPid } = await pod.addContainer({ name: 'app' }));
      const trace = join(containerd.folder.path, 'trace');
      const prefix = ['strace', '-f', '-qq', '-s', '400', '-o', trace, '-e', 'trace=%file,clone,clone3,fork,vfork'];
      const { bundle } = await grab(containerd.folder, [pod.id, '--samples', '1'], { exit: 0 }, { prefix });
      looked = bundle.threads('shim/threads-1.txt').map(({ tid }) => tid);
      calls = callsOfMain(readFileSync(trace, 'utf8'));
    }),
  );

  it('touches nothing on a disk but its own file and what its runtime needs', () => {
    // The folders above the zone that /etc/localtime leads to.
    const parents = ['/etc', '/usr', '/usr/share', '/lib', '/lib64'];
    // getcwd has its answer where others have a path.
    const touched = calls.flatMap(({ name, path }) => (name === 'getcwd' || !path ? [] : [path]));
    const allowed = (path: string) =>
      path === STALLCAP || RUNTIME_PATHS.test(path) || parents.includes(path) || path === '.';
    expect([...new Set(touched)].filter(path => !allowed(path))).toEqual([]);
    expect(touched).toContain(`/proc/${pod.shimPid}/task/${pod.shimPid}/stack`);
  });

  it('reads no file of another process that can hang', () => {
    const others = calls.flatMap(({ path }) => (/^\/proc\/\d+\//.test(path ?? '') ? [path ?? ''] : []));
    const hanging = others.filter(path =>
      /\/(?:cmdline|environ|maps|smaps\w*|mountinfo|cgroup|exe|root|fd|ns|io|limits|oom_score\w*)(?:\/|$)/.test(path),
    );
    expect(hanging).toEqual([]);
    // One thread: it may be inside execve, where its stat, wchan, stack and links hang.
    const ofInit = others.filter(path => path.startsWith(`/proc/${initPid}/`));
    expect(ofInit.filter(path => !/\/(?:comm|status|children|task)$/.test(path))).toEqual([]);
  });

  it('starts nothing but itself, and not before it has looked at every thread of the shim', () => {
    const forks = calls.filter(({ name, text }) => /^(?:clone|v?fork)/.test(name) && !NEW_THREAD.test(text));
    expect(forks.length).toBeGreaterThan(0);
    expect(looked.length).toBeGreaterThan(4);
    const read = looked.map(tid => calls.find(({ path }) => path === `/proc/${pod.shimPid}/task/${tid}/stack`)?.at);
    expect(read.filter(at => at === undefined || at > (forks[0]?.at ?? 0))).toEqual([]);
    expect(calls.filter(({ name }) => name === 'execve')).toHaveLength(1);
  });
});
