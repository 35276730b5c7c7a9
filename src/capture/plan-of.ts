import type { Operator, Tool } from '../bundle/manifest.ts';
import type { Plan } from '../bundle/plan.ts';
import type { Collector, GrabOptions } from '../collectors/collector.ts';
import type { Host } from '../host/port.ts';
import type { Target } from '../sandbox/types.ts';
import { bundleName } from './bundle-name.ts';
import { hostRecord } from './host-record.ts';

export interface PlanRequest {
  readonly target: Target;
  readonly options: GrabOptions;
  readonly argv: readonly string[];
  readonly collectors: readonly Collector[];
  readonly redact: boolean;
  readonly operator: Operator;
  readonly tool: Tool;
}

/** What a grab will try, and the name of its folder. Waits for a slow question: which time zone. */
export async function planOf(
  request: PlanRequest,
  host: Host,
): Promise<{ readonly plan: Plan; readonly folder: string }> {
  const { options, redact, tool, operator, argv, target } = request;
  const machine = await hostRecord(host);
  const plan: Plan = {
    format: 1,
    ...{ tool, startedAt: host.startedAt, argv, note: options.note, options: { ...options, redact }, operator },
    host: machine,
    target,
    collectors: request.collectors
      .filter(({ onRequest }) => onRequest?.(options) !== false)
      .map(({ name, phase, deadlineMs }) => ({ name, phase, deadlineMs })),
  };
  return { plan, folder: bundleName(machine.hostname, target, host.startedAt) };
}
