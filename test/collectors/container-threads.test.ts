import { describe, expect, it } from 'vitest';
import { containerThreads } from '../../src/collectors/container-threads.ts';
import { lookOf } from '../sandbox/looks.ts';
import { broughtBy, captureOn, POD, SHIM, textOf } from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

/** Processes below the shim: pid to comm, and who forked whom. */
function below(comms: Readonly<Record<number, string>>, children: Readonly<Record<number, string>>): PaperHost {
  const paper = new PaperHost();
  for (const [pid, comm] of Object.entries(comms)) paper.processes.set(Number(pid), comm);
  for (const pid of [SHIM.pid, ...Object.keys(comms)])
    paper.put(`/proc/${pid}/task/${pid}/children`, children[Number(pid)] ?? '');
  const lookRisky = async (pids: readonly number[]) =>
    pids.map(pid => lookOf(pid, paper.processes.get(pid) ?? '?', [{ wchan: 'do_wait' }]));
  return Object.assign(paper, { lookRisky });
}

describe("the shim's children that are no init", () => {
  it.each(['runc', 'crun', 'nvidia-containe'])('are shown with what %s has forked below itself', async runtime => {
    const comms = { 2503: 'app', 3000: runtime, 3001: `${runtime}:[2:INIT]`, 3002: 'worker' };
    const paper = below(comms, { [SHIM.pid]: '2503 3000', 3000: '3001', 2503: '3002' });
    const children = textOf(
      await broughtBy(containerThreads, captureOn(paper.host, { sandbox: POD })),
      'shim/children-1.txt',
    );
    expect([...children.matchAll(/^===== (\d+) /gm)].map(([, pid]) => pid)).toEqual(['3000', '3001']);
  });
});
