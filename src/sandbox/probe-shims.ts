import type { ConnectAnswer } from '../formats/ttrpc/task.ts';
import type { Host, ShimCall } from '../host/port.ts';
import { ourPid } from './nested-pids.ts';
import { sandboxName } from './sandbox-words.ts';
import { shimQuestions } from './shim-questions.ts';
import type { Inventory } from './types.ts';

/** Whether a shim answers Connect, and how long it takes to: 4 to 10 ms for one that is well. */
export interface ProbedShim {
  readonly pid: number;
  readonly id: string;
  /** Name of its sandbox. */
  readonly sandbox: string;
  readonly outcome: ShimCall['outcome'];
  readonly latencyMs: number | null;
  /** Of the ttrpc API that it serves. */
  readonly service: string | null;
  /** Pid of who answered: another one than its own is a shim that was replaced. */
  readonly answeredBy: number | null;
  readonly detail?: string;
}

/** Asks every shim of the node Connect, all at the same time: the one call that is safe whatever the shim is stuck in. */
export async function probeShims(
  host: Host,
  { sandboxes }: Inventory,
  deadlineMs: number,
): Promise<readonly ProbedShim[]> {
  const shims = sandboxes.flatMap(sandbox => sandbox.shims.map(shim => ({ shim, sandbox: sandboxName(sandbox) })));
  const questions = await shimQuestions(
    host,
    shims.map(({ shim }) => shim),
    deadlineMs / 2,
  );
  const asked = shims.flatMap(({ shim }) => questions.get(shim) ?? []);
  const answers = await host.askShims(asked, { deadlineMs });
  return shims.map(({ shim, sandbox }) => {
    const question = questions.get(shim);
    const calls = question === undefined ? [] : (answers[asked.indexOf(question)] ?? []);
    const told = toldBy(calls.at(-1));
    const answeredBy = ourPid(host, shim.pid, told.answeredBy);
    return { pid: shim.pid, id: shim.id, sandbox, ...told, answeredBy };
  });
}

/** It answered, and it was this shim who did: a socket may have gone to another. */
export function answers({ pid, outcome, answeredBy }: ProbedShim): boolean {
  return outcome === 'ok' && answeredBy === pid;
}

function toldBy(connect: ShimCall | undefined): Omit<ProbedShim, 'pid' | 'id' | 'sandbox'> {
  if (connect === undefined) {
    const detail = 'no socket of it was found';
    return { outcome: 'not-asked', latencyMs: null, service: null, answeredBy: null, detail };
  }
  const { outcome, latencyMs, service, answer, status, detail } = connect;
  const words = detail ?? status?.message;
  const answeredBy = (answer as ConnectAnswer | null)?.shimPid ?? null;
  return { outcome, latencyMs, service, answeredBy, ...(words === undefined ? {} : { detail: words }) };
}
