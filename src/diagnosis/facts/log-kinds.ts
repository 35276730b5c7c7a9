/**
 * Messages of containerd, its shims, kubelet and dockerd that mean something, by their text: the strings of the sources from
 * containerd 1.2 to 2.4, kubelet's remote runtime, moby's supervisor. The first that fits counts, so what is special stands
 * before what is general.
 */
import type { LogKind } from '../facts.ts';

/** On the message. */
const BY_MESSAGE: readonly (readonly [RegExp, LogKind])[] = [
  [/^get state for /, 'state-timeout'],
  [/^unknown status$/, 'unknown-status'],
  [/^[Ff]ailed to handle (?:container|sandbox) TaskExit event|^Failed to handle exit event/, 'exit-handling-failed'],
  [/^Failed to handle backOff event/i, 'backoff-failed'],
  [/^Events for .* is in backoff/, 'backoff-enqueued'],
  [/^TaskExit event /, 'exit-retried'],
  [/^received (?:(?:sandbox )?container |sandbox )?exit event/, 'exit-received'],
  [/^failed to delete task/, 'delete-failed'],
  [/^Ensure that .* has been cleanup successfully/, 'late-cleanup'],
  [/^failed to get task exit status for/, 'exit-status-failed'],
  [/^cleaning up dead shim/, 'dead-shim-cleanup'],
  [/^shim disconnected/, 'shim-disconnected'],
  [
    /^failed to clean up after shim disconnected|^failed to delete dead shim|^warnings while cleaning up dead shim|^cleanup warnings/,
    'shim-cleanup-failed',
  ],
  [/^failed to shutdown shim|shim shutdown timeout|publisher not closed/, 'shim-shutdown-failed'],
  [/^failed to delete (?:bundle|shim)\b/, 'bundle-delete-failed'],
  [/failed to cleanup rootfs mount|failed rootfs umount|[Ff]ailed to u?n?mount/, 'unmount-failed'],
  [/^failed to drain (?:init|exec)/, 'drain-failed'],
  [/evicting (?:(?!evicting ).){0,300} from queue because of retry count/, 'event-evicted'],
  [/^(?:forward|post) event|^error (?:forwarding|publishing) event/, 'event-forward-failed'],
  [/received message on inactive stream/, 'inactive-stream'],
  [/^collecting metrics for/, 'metrics-failed'],
  [/^copy shim log/, 'log-fifo-lost'],
  [
    /[Ff]ailed to load (?:task|shim|container|sandbox|bundle)|unable to load shim|cleaning leaked shim|fast path read bundle|failed to query shim pids/,
    'load-failed',
  ],
  [/must be in running or unknown state/, 'not-running'],
  [/failed to reserve (?:container|sandbox) name/, 'name-reserved'],
  [/waiting for response from boltdb/, 'boltdb-waiting'],
  [
    /^CreateContainer .* failed|^RunPodSandbox .* failed|^"?(?:CreateContainer|RunPodSandbox) (?:in sandbox )?from runtime service failed/,
    'create-failed',
  ],
  [/^StartContainer .* failed|^"?StartContainer from runtime service failed/, 'start-failed'],
  [
    /^Stop(?:Container|PodSandbox) .* failed|^"?Stop(?:Container|PodSandbox) from runtime service failed|waiting for container (?:(?!waiting for container ).){0,300} to be killed/,
    'kill-wait-failed',
  ],
  [/^StartContainer for .* returns successfully/, 'start-returned'],
  [/^StartContainer for /, 'start-requested'],
  [/^CreateContainer within sandbox .* for container /, 'create-requested'],
  [/^RunPodSandbox for .*\}$/, 'sandbox-run-requested'],
  [/^Stop(?:Container|PodSandbox) for \S+(?: with timeout .*)?$/, 'stop-requested'],
  [/^(?:Kill|Stop) container /, 'kill-sent'],
  [
    /^(?:starting containerd|containerd successfully booted|Starting up|Daemon has completed initialization)/,
    'daemon-started',
  ],
  [/^Stop CRI service|^Stopping (?:containerd|kubelet)|^Processing signal|^Started? .*containerd/, 'daemon-stopping'],
  [/PLEG is not healthy/, 'pleg-unhealthy'],
  [
    /container(?:d| runtime)? (?:daemon )?(?:did not|is not) (?:exit|respond|healthy)|health check(?:(?!health check).){0,300}containerd|killing and restarting containerd/i,
    'health-check-failed',
  ],
  [
    /failed to (?:setup|set up|destroy|teardown) network|plugin type=|cni plugin|networkPlugin cni failed/i,
    'cni-failed',
  ],
];

/** On the message and its error together. */
const BY_ALL: readonly (readonly [RegExp, LogKind])[] = [
  [/must be in running or unknown state/, 'not-running'],
  [/no space left on device/, 'no-space'],
  [
    /resource temporarily unavailable|cannot fork|pthread_create failed|fork\/exec (?:(?!fork\/exec ).){0,300}: cannot allocate memory/,
    'cannot-fork',
  ],
  [/too many open files/, 'too-many-open-files'],
  [/cgroup(?:(?!cgroup).){0,300}device or resource busy|Failed to remove cgroup/, 'cgroup-busy'],
  [/dbus|org\.freedesktop\.systemd1|Failed to connect to bus|Message recipient disconnected/, 'dbus-failed'],
  [
    /device or resource busy(?:(?!device or ).){0,300}unmount|unmount(?:(?!unmount).){0,300}device or resource busy|failed to unmount target/,
    'unmount-failed',
  ],
  [/ttrpc: (?:server )?closed/, 'ttrpc-closed'],
  [/DeadlineExceeded|deadline exceeded/, 'deadline-exceeded'],
];

/**
 * All of a table in one expression, to rule a line out at one go; those that are anchored apart, since V8 tries them at the start
 * alone when all of them are. Of a million lines most are none of these.
 */
function anyOf(table: readonly (readonly [RegExp, LogKind])[]): (text: string) => boolean {
  const union = (forms: readonly RegExp[], flags = '') =>
    forms.length === 0 ? /$^/ : new RegExp(forms.map(({ source }) => source).join('|'), flags);
  const isAnchored = ({ source }: RegExp) => source.split('|').every(part => part.startsWith('^'));
  const forms = table.map(([form]) => form);
  const exact = forms.filter(({ flags }) => flags === '');
  const [anchored, anywhere, loose] = [
    union(exact.filter(isAnchored)),
    union(exact.filter(form => !isAnchored(form))),
    union(
      forms.filter(({ flags }) => flags !== ''),
      'i',
    ),
  ];
  return text => anchored.test(text) || anywhere.test(text) || loose.test(text);
}

const isByMessage = anyOf(BY_MESSAGE);
const isByAll = anyOf(BY_ALL);

/** What a line is; `other` for one that means nothing by itself. */
export function kindOf(message: string, error: string | null): LogKind {
  if (isByMessage(message)) return BY_MESSAGE.find(([form]) => form.test(message))?.[1] ?? 'other';
  const all = error === null ? message : `${message} ${error}`;
  return isByAll(all) ? (BY_ALL.find(([form]) => form.test(all))?.[1] ?? 'other') : 'other';
}

/**
 * Whether a raw line can be any of the kinds: cheaper than to parse it. Everything above contains one of these, quotes and
 * escapes left aside.
 */
export const MAY_BE_KNOWN =
  /get state for|unknown status|TaskExit|[eE]xit event|xit status for|back[oO]ff|delet(?:e|ing) (?:task|dead|bundle|shim)|cleanup|dead shim|shim |umount|nmount|to drain|evicting|(?:forward|post|publish)\w{0,8} event|inactive stream|ttrpc: |collecting metrics|copy shim log|load |fast path|unknown state|to reserve|boltdb|CreateContainer|StartContainer|RunPodSandbox|StopContainer|StopPodSandbox|(?:Kill|Stop) container|waiting for container|successfully booted|[sS]tarting containerd|Starting up|completed init|CRI service|Stopping |Processing signal|PLEG|health check|did not exit|killing and restarting|network|plugin|no space left|temporarily unavailable|cannot fork|pthread_create|cannot allocate|too many open|device or resource busy|remove cgroup|dbus|freedesktop|connect to bus|recipient disconnected|DeadlineExceeded|deadline exceeded/;

/** Kinds that say something about the whole node when they name nobody. */
export const OF_THE_NODE: ReadonlySet<LogKind> = new Set([
  'daemon-started',
  'daemon-stopping',
  'pleg-unhealthy',
  'boltdb-waiting',
  'no-space',
  'cannot-fork',
  'too-many-open-files',
  'dbus-failed',
  'health-check-failed',
  'log-fifo-lost',
  'inactive-stream',
  'event-evicted',
  'event-forward-failed',
  'ttrpc-closed',
  'load-failed',
  'drain-failed',
  'cgroup-busy',
  'cni-failed',
]);
