import type { Collector } from './collector.ts';
import { concatenate } from './concatenate.ts';
import { deadlineOf, namesIn } from './evidence-of.ts';

const DIRECTORY = '/sys/fs/fuse/connections';
const MAX_CONNECTIONS = 500;

/**
 * node/fuse.txt: requests that wait for the server of each FUSE filesystem (kernel Documentation/filesystems/fuse/fuse.rst).
 * A directory's number is the minor number of the mount's device: 52 is `0:52` of mountinfo.
 */
export const fuseConnections: Collector = {
  name: 'fuse-connections',
  phase: 'sweep',
  deadlineMs: 2000,
  async *collect(capture) {
    const [directory] = await capture.host.readRisky([{ path: DIRECTORY, what: 'dir' }], deadlineOf(capture));
    const names = directory === undefined ? [] : namesIn(directory).slice(0, MAX_CONNECTIONS);
    const files = await capture.host.readRisky(
      names.map(name => ({ path: `${DIRECTORY}/${name}waiting` })),
      deadlineOf(capture),
    );
    const evidence = concatenate('node/fuse.txt', DIRECTORY, files);
    yield files.length > 0 ? evidence : { ...evidence, detail: 'no FUSE filesystem, or fusectl is not mounted' };
  },
};
