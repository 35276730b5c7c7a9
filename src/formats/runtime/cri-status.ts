import { digitsAt, parseObjectWithDigits, pidAt, stringAt } from './json.ts';

/**
 * A container's status as containerd's CRI plugin keeps it: `<root>/io.containerd.grpc.v1.cri/containers/<id>/status`,
 * written to a temporary file and renamed (pkg/cri/store/container/status.go; same place in 2.x).
 */
export interface CriStatus {
  /** status.go State(): FinishedAt ≠ 0 is exited, else StartedAt ≠ 0 is running, else created. */
  readonly state: 'CREATED' | 'RUNNING' | 'EXITED';
  readonly pid: number | null;
  /** Nanoseconds since 1970, decimal: they do not fit a double. '0' when it has not happened. */
  readonly createdAtNs: string;
  readonly startedAtNs: string;
  readonly finishedAtNs: string;
  readonly exitCode: number | null;
  readonly reason: string | null;
}

/** Null when the text is none. */
export function parseCriStatus(text: string): CriStatus | null {
  const status = parseObjectWithDigits(text);
  if (status === null || stringAt(status, 'Version') === null) return null;
  const time = (key: string) => digitsAt(status, key) ?? '0';
  const startedAtNs = time('StartedAt');
  const finishedAtNs = time('FinishedAt');
  const exitCode = digitsAt(status, 'ExitCode');
  return {
    state: finishedAtNs !== '0' ? 'EXITED' : startedAtNs !== '0' ? 'RUNNING' : 'CREATED',
    pid: pidAt(status, 'Pid'),
    createdAtNs: time('CreatedAt'),
    startedAtNs,
    finishedAtNs,
    exitCode: exitCode === null ? null : Number(exitCode),
    reason: stringAt(status, 'Reason'),
  };
}
