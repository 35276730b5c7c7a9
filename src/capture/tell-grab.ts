import { setTimeout as sleep } from 'node:timers/promises';
import { gaps } from '../bundle/gaps.ts';
import { tellSyslog } from '../collectors/syslog.ts';
import type { Host } from '../host/port.ts';
import type { Target } from '../sandbox/types.ts';
import type { Grabbed } from './grab-request.ts';

/** How long the end of a run waits for the line to leave. A probe that has it goes on without us. */
const WAIT_MS = 300;

/** One line to syslog for the whole grab. */
export async function tellGrab(host: Host, { manifest, sealed }: Grabbed): Promise<void> {
  const { outcome, durationMs } = manifest.capture;
  const missing = gaps(manifest).length;
  const where = sealed.path ?? 'standard output';
  const text = `grab of ${subjectOf(manifest.target)}: ${outcome}, ${missing} missing, ${Math.round(durationMs)} ms, to ${where}`;
  await Promise.race([tellSyslog(host, text), sleep(WAIT_MS, undefined, { ref: false })]);
}

function subjectOf(target: Target): string {
  if (target.kind === 'node') return 'the node';
  const { pod } = target.kind === 'sandbox' ? target.sandbox : target.remnant;
  const name = pod === null ? (target.asked ?? 'a sandbox') : `${pod.namespace}/${pod.name}`;
  return target.kind === 'sandbox' ? `${name} (sandbox ${target.sandbox.id.slice(0, 12)})` : name;
}
