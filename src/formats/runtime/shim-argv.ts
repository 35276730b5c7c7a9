import { readFlags } from './flags.ts';

/**
 * The command line of a shim: containerd runtime/v2/shim/shim.go (runc, runsc, kata), cmd/containerd-shim/main_unix.go
 * (v1), containerd/rust-extensions crates/shim/src/args.rs.
 */
export interface ShimArgv {
  /**
   * `server` holds the pod. `start` and `delete` are helpers that containerd runs for moments, or for ever when they hang:
   * same program, same name, same working directory, told apart by the positional argument alone.
   * `other`: `-v`, `-info`, an unknown action.
   */
  readonly action: 'server' | 'start' | 'delete' | 'other';
  readonly namespace: string | null;
  /** The id that the shim was started for; v1 has none here. */
  readonly id: string | null;
  /** gRPC address of its containerd. */
  readonly address: string | null;
  /** `-bundle` of `delete`. */
  readonly bundle: string | null;
  /** v1: `<root>/io.containerd.runtime.v1.linux/<namespace>/<id>`. */
  readonly workdir: string | null;
  /** v1: where runc keeps its state, without the namespace. */
  readonly runtimeRoot: string | null;
}

const BOOLEANS: ReadonlySet<string> = new Set(['debug', 'v', 'version', 'info', 'systemd-cgroup', 'no-setup-logger']);
const NO_SERVER = ['v', 'version', 'info'];

/** `argv` with the program's name. */
export function parseShimArgv(argv: readonly string[]): ShimArgv {
  const { values, positional } = readFlags(argv.slice(1), BOOLEANS);
  const text = (name: string) => values.get(name) || null;
  return {
    action: actionOf(
      positional[0],
      NO_SERVER.some(name => values.get(name) === 'true'),
    ),
    namespace: text('namespace'),
    id: text('id'),
    address: text('address'),
    bundle: text('bundle'),
    workdir: text('workdir'),
    runtimeRoot: text('runtime-root'),
  };
}

function actionOf(positional: string | undefined, answersAndEnds: boolean): ShimArgv['action'] {
  if (answersAndEnds) return 'other';
  if (positional === undefined) return 'server';
  return positional === 'start' || positional === 'delete' ? positional : 'other';
}
