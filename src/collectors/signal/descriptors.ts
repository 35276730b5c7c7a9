import type { Host } from '../../host/port.ts';
import { namesIn } from '../evidence-of.ts';

/** An open descriptor of a process. */
export interface Descriptor {
  readonly fd: number;
  /** Text of the link: a path, `pipe:[4711]`, `socket:[4712]`, `anon_inode:[eventpoll]`. */
  readonly target: string;
  /** From the mode of the link in /proc/<pid>/fd (proc_pid_fd(5)): neither for O_PATH. */
  readonly reads: boolean;
  readonly writes: boolean;
}

/** A process with thousands of them (a k3s server) is read to this many. */
const MAX_DESCRIPTORS = 8192;

/** All open descriptors of each process; null for one whose directory could not be read in time or at all. */
export async function descriptorsOf(
  host: Pick<Host, 'readRisky'>,
  pids: readonly number[],
  deadlineMs: number,
): Promise<readonly (readonly Descriptor[] | null)[]> {
  const deadline = { deadlineMs, itemMs: Math.min(400, deadlineMs) };
  const listings = await host.readRisky(
    pids.map(pid => ({ path: `/proc/${pid}/fd`, what: 'dir' })),
    deadline,
  );
  const paths = listings.map(listing =>
    namesIn(listing)
      .slice(0, MAX_DESCRIPTORS)
      .map(fd => `${listing.path}/${fd}`),
  );
  const links = await host.readRisky(
    paths.flat().map(path => ({ path, what: 'link', withStat: true })),
    deadline,
  );
  const byPath = new Map(links.map(link => [link.path, link]));
  return paths.map((own, index) => {
    if (listings[index]?.outcome !== 'ok') return null;
    return own.flatMap(path => {
      const link = byPath.get(path);
      if (link === undefined || link.outcome !== 'ok') return [];
      const mode = link.stat?.mode ?? 0;
      const fd = Number(path.slice(path.lastIndexOf('/') + 1));
      return [{ fd, target: link.body.toString(), reads: (mode & 0o400) !== 0, writes: (mode & 0o200) !== 0 }];
    });
  });
}
