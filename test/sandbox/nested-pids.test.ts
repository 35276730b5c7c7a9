import { expect, test } from 'vitest';
import { ownPid } from '../../src/sandbox/nested-pids.ts';
import { MemoryHost } from './memory-host.ts';

test('a shim of a node in a container writes the pid that it has in there, any other the one that we know', () => {
  const memory = new MemoryHost();
  memory.add({ pid: 200, comm: 'containerd-shim', innerPids: [60] });
  memory.add({ pid: 300, comm: 'containerd-shim', innerPids: [70, 9] });
  memory.add({ pid: 400, comm: 'containerd-shim' });
  expect([200, 300, 400].map(pid => ownPid(memory.host, pid))).toEqual([60, 9, 400]);
  // Gone by now.
  expect(ownPid(memory.host, 500)).toBe(500);
});
