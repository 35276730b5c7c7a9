import type { DoctorDocument } from '../capture/doctor/doctor.ts';
import { printable } from '../formats/escape.ts';

const MARKS = { ok: 'ok   ', warn: 'warn ', lacks: 'LACKS' } as const;

/** One line per check, what is lacking with what to do about it, and the verdict. */
export function doctorWords({ checks }: DoctorDocument): string {
  const lines = checks.flatMap(({ name, outcome, says, next }) => [
    `${MARKS[outcome]} ${name}: ${says}`,
    ...(next === undefined ? [] : [`      → ${next}`]),
  ]);
  const lacking = checks.filter(({ outcome }) => outcome === 'lacks').length;
  const none = checks.some(({ name, outcome }) => name === 'containerd' && outcome === 'warn');
  const verdict =
    lacking === 0
      ? none
        ? 'There is no containerd here, and so no pod to grab; a grab of the node alone can be complete.'
        : 'A grab on this node can be complete.'
      : `A grab on this node will be incomplete: ${lacking} lacking.`;
  return [...lines, verdict].map(line => `${printable(line)}\n`).join('');
}
