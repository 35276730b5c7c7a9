import { isoTime } from '../iso-time.ts';
import { decodeMessage, encodeMessage } from '../protobuf/message.ts';

/**
 * What of a shim's task API is asked: `Connect`, which takes no lock of a container, and `State`, which does (it waits as
 * long as a Delete, Start or Kill of that container hangs, and leaves a goroutine behind meanwhile). Field numbers of
 * containerd's api/runtime/task/v2/shim.proto and v3/shim.proto, and runtime/v1/shim/v1/shim.proto.
 */
export const TASK_SERVICES = {
  /** Shims of containerd 2.x; they do not serve v2. */
  v3: 'containerd.task.v3.Task',
  /** 1.2 to 1.7. */
  v2: 'containerd.task.v2.Task',
  /** containerd-shim, one for each container, up to 1.7. */
  v1: 'containerd.runtime.linux.shim.v1.Shim',
} as const;

export type TaskApi = keyof typeof TASK_SERVICES;

/** Of v1, whose counterpart of Connect is called ShimInfo and takes no id. */
export function connectMethod(api: TaskApi): 'Connect' | 'ShimInfo' {
  return api === 'v1' ? 'ShimInfo' : 'Connect';
}

export interface ConnectAnswer {
  readonly shimPid: number;
  /** 0: not told. */
  readonly taskPid: number;
}

const TASK_STATUSES = ['UNKNOWN', 'CREATED', 'RUNNING', 'STOPPED', 'PAUSED', 'PAUSING'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export interface StateAnswer {
  readonly id: string;
  readonly bundle: string;
  readonly pid: number;
  readonly status: TaskStatus;
  readonly exitStatus: number;
  /** ISO 8601 with ms; null while it has not exited. */
  readonly exitedAt: string | null;
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly terminal: boolean;
}

const BY_ID = { id: [1, 'text'] } as const;
const CONNECT_RESPONSE = { shimPid: [1, 'number'], taskPid: [2, 'number'] } as const;
const STATE_RESPONSE = {
  id: [1, 'text'],
  bundle: [2, 'text'],
  pid: [3, 'number'],
  status: [4, 'number'],
  stdin: [5, 'text'],
  stdout: [6, 'text'],
  stderr: [7, 'text'],
  terminal: [8, 'flag'],
  exitStatus: [9, 'number'],
  exitedAt: [10, { seconds: [1, 'digits'], nanos: [2, 'number'] }],
} as const;

/** ConnectRequest; for v1 the empty request of ShimInfo. @param id of the shim */
export function encodeConnect(api: TaskApi, id: string): Buffer {
  return api === 'v1' ? Buffer.alloc(0) : encodeMessage(BY_ID, { id });
}

/** StateRequest. @param id of the container */
export function encodeState(id: string): Buffer {
  return encodeMessage(BY_ID, { id });
}

/** Null for bytes that are no such answer. */
export function decodeConnect(payload: Buffer): ConnectAnswer | null {
  return decodeMessage(CONNECT_RESPONSE, payload);
}

/** StateResponse. Null for bytes that are no such answer. */
export function decodeState(payload: Buffer): StateAnswer | null {
  const answer = decodeMessage(STATE_RESPONSE, payload);
  if (answer === null) return null;
  const status = TASK_STATUSES[answer.status] ?? 'UNKNOWN';
  return { ...answer, status, exitedAt: answer.exitedAt === null ? null : timeOf(answer.exitedAt) };
}

/** Go's zero time, the year 1, is sent for "not yet": as everything before 1970 it is no time of an exit. */
function timeOf({ seconds, nanos }: { readonly seconds: string; readonly nanos: number }): string | null {
  const ms = Number(seconds) * 1000 + Math.floor(nanos / 1e6);
  return ms > 0 ? isoTime(ms) : null;
}
