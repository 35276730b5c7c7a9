import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { createHost } from '../../../src/host/linux.ts';

/** For all tests of a file: a host whose first probe is there, and a folder for sockets; both end with the file. */
export async function hostWithSockets() {
  const host = createHost();
  const folder = mkdtempSync(join(tmpdir(), 'stallcap-sockets-'));
  afterAll(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  await host.readRisky([{ path: '/proc/version' }], { deadlineMs: 20_000 });
  let names = 0;
  const newPath = () => {
    names += 1;
    return join(folder, `${names}.sock`);
  };
  return { host, folder, newPath };
}
