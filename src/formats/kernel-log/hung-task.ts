/** Lines of the hung task detector: kernel kernel/hung_task.c check_hung_task and debug_show_blocker. */

export interface TaskName {
  readonly comm: string;
  readonly pid: number;
}

export interface HungTask extends TaskName {
  /** For how long at least: the detector's timeout, or what it measured (since 4.x: 122, 123, 245, …). */
  readonly seconds: number;
}

export interface LockWait {
  readonly waiter: TaskName;
  /** `mutex`, `semaphore`, `rw-semaphore`. */
  readonly lock: string;
  /** Whom the kernel takes for the owner (`likely`, it says); null where it found none. */
  readonly owner: TaskName | null;
}

const TASK = 'INFO: task ';

/** More than the kernel prints: a longer line is something else. */
const MAX_LENGTH = 250;

/** A name and a pid, parted by the last colon, for kernel workers have colons in their names: `kworker/9:0:73` is pid 73. */
function taskName(text: string): TaskName | null {
  const colon = text.lastIndexOf(':');
  const digits = text.slice(colon + 1);
  return colon > 0 && /^\d{1,10}$/.test(digits) ? { comm: text.slice(0, colon), pid: Number(digits) } : null;
}

/** `INFO: task jbd2/nvme2n1-8:6604 blocked for more than 122 seconds.` Null for any other line. */
export function parseHungTask(text: string): HungTask | null {
  if (!text.startsWith(TASK) || text.length > MAX_LENGTH) return null;
  const blocked = text.lastIndexOf(' blocked ');
  const seconds = /^ blocked (?:in I\/O wait )?for more than (\d+) seconds/.exec(text.slice(Math.max(0, blocked)))?.[1];
  const task = taskName(text.slice(TASK.length, Math.max(0, blocked)));
  return seconds === undefined || task === null ? null : { ...task, seconds: Number(seconds) };
}

/**
 * Since 6.15: `INFO: task cat:115 is blocked on a mutex likely owned by task cat:114.`,
 * `INFO: task nvidia-smi:49 <writer> blocked on an rw-semaphore likely owned by task VLLM::EngineCor:46 <writer>`.
 */
export function parseLockWait(text: string): LockWait | null {
  if (!text.startsWith(TASK) || text.length > MAX_LENGTH) return null;
  const at = text.lastIndexOf(' blocked on a');
  const lock = /^ blocked on an? ([a-z-]+)/.exec(text.slice(Math.max(0, at)))?.[1];
  const waiter = taskName(text.slice(TASK.length, Math.max(0, at)).replace(/ (?:is|<(?:reader|writer)>)$/, ''));
  if (lock === undefined || waiter === null) return null;
  const by = text.lastIndexOf(' by task ');
  const owner = by < at ? '' : text.slice(by + ' by task '.length).replace(/(?: <(?:reader|writer)>)?\.?$/, '');
  return { waiter, lock, owner: taskName(owner) };
}
