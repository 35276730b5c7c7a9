import { describe, expect, it } from 'vitest';
import { during } from './during.ts';
import { status } from './proc.ts';
import { labUnavailable } from './requirements.ts';
import { type RuncCommand, runcHeld } from './stalls/runc-held.ts';

const SAYS: [RuncCommand, string][] = [
  ['create', 'CONTAINER_CREATED'],
  ['start', 'CONTAINER_CREATED'],
  ['kill', 'CONTAINER_RUNNING'],
  ['delete', 'CONTAINER_RUNNING'],
];

describe.skipIf(labUnavailable())('a runc that does not go on', () => {
  it.each(SAYS)('in %s is a child of the shim, and CRI says %s', (command, state) =>
    during(runcHeld({ command }), async ({ pod, container, runcPid }) => {
      expect(status(runcPid)).toMatchObject({ comm: 'runc', ppid: pod.shimPid, state: 'S' });
      expect((await container.status()).state).toBe(state);
    }),
  );
});
