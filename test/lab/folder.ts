import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { clearFolder } from './clear.ts';
import { exclusive } from './exclusive.ts';
import { appendToLedger, type LedgerEntry } from './ledger.ts';
import { startTicks } from './proc.ts';

const PREFIX = 'stallcap-lab-';

/** A folder of the lab: everything that a test starts, mounts or makes belongs to one, and ends with it. */
export interface LabFolder extends AsyncDisposable {
  readonly path: string;
  /** Name of the folder, unique on the machine; also the cgroup below which its containers run. */
  readonly name: string;
  /** Notes a process that was started for this folder; it is ended by pid and start time. */
  process(pid: number, what: string): void;
  note(entry: LedgerEntry): void;
  /** Keeps something until the folder is cleared: a name that only one process may hold. */
  hold(resource: AsyncDisposable): void;
  /** Everything noted so far. */
  readonly ledger: readonly LedgerEntry[];
}

/**
 * A new folder under the temporary directory. Its name carries the owner's pid and start time, so that whoever
 * comes later can tell a living owner's folder from one that was left behind.
 */
export async function openFolder(): Promise<LabFolder> {
  await once();
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-${startTicks(process.pid)}-`));
  writeFileSync(join(path, PID_NAMESPACE), pidNamespace());
  const ledger: LedgerEntry[] = [];
  const note = (entry: LedgerEntry) => {
    ledger.push(entry);
    appendToLedger(path, entry);
  };
  const held = new AsyncDisposableStack();
  return {
    path,
    name: basename(path),
    ledger,
    note,
    hold: resource => void held.use(resource),
    process: (pid, what) => note({ kind: 'process', pid, startTicks: startTicks(pid) ?? '', what }),
    [Symbol.asyncDispose]: async () => {
      await using _ = held;
      for (const trace of await clearFolder(path)) ledger.push({ kind: 'path', path: trace });
    },
  };
}

/** In a folder: whose numbers the pids of its name and its ledger are. A container may share the temporary directory. */
const PID_NAMESPACE = 'pid-namespace';
const pidNamespace = () => readlinkSync('/proc/self/ns/pid');

function isElsewhere(folder: string): boolean {
  const file = join(folder, PID_NAMESPACE);
  return existsSync(file) && readFileSync(file, 'utf8') !== pidNamespace();
}

/** Ends what runs that crashed have left behind: folders whose owner is no longer alive. */
export async function sweep(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-(\\d+)-`).exec(name);
    if (owner === null || startTicks(Number(owner[1])) === owner[2] || isElsewhere(join(tmpdir(), name))) continue;
    await using _ = await exclusive(`${name}-sweep`, 60_000);
    // What cannot be cleared now is tried again by the next run; it must not keep this one from starting.
    await clearFolder(join(tmpdir(), name)).catch(error => process.emitWarning(error));
  }
}

let first: Promise<void> | undefined;

/** Before the first folder of a process: clear the past, and see to it that the future is cleared too. */
function once(): Promise<void> {
  first ??= sweep().then(() => {
    // Ends when our end of the pipe closes, be it by SIGKILL, and sweeps then: a frozen disk or a stopped daemon
    // must not outlive the run that made it.
    const guardian = spawn(process.execPath, [join(import.meta.dirname, 'guardian.ts')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guardian.unref();
    (guardian.stdin as unknown as { unref(): void }).unref();
  });
  return first;
}
