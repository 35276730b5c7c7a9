import { decodeMessage, encodeMessage, repeated } from '../protobuf/message.ts';

/** A unary call, as ttrpc wraps it: Request and Response of containerd/ttrpc request.proto, Status of google/rpc. */
export interface CallRequest {
  readonly service: string;
  readonly method: string;
  readonly payload: Buffer;
  /** The server gives the call's context this deadline. Not every method heeds it. */
  readonly timeoutMs: number;
  /** containerd's. */
  readonly namespace: string;
}

export type CallResponse =
  | { readonly kind: 'payload'; readonly payload: Buffer }
  | { readonly kind: 'status'; readonly code: number; readonly message: string };

/** google.rpc.Code */
export const NOT_FOUND = 5;
export const UNIMPLEMENTED = 12;

const KEY_VALUE = { key: [1, 'text'], value: [2, 'text'] } as const;
const REQUEST = {
  service: [1, 'text'],
  method: [2, 'text'],
  payload: [3, 'bytes'],
  timeoutNs: [4, 'digits'],
  metadata: [5, repeated(KEY_VALUE)],
} as const;
const RESPONSE = { status: [1, { code: [1, 'number'], message: [2, 'text'] }], payload: [2, 'bytes'] } as const;

/** A ttrpc Request (containerd/ttrpc request.proto), with containerd's namespace as metadata. */
export function encodeCall({ service, method, payload, timeoutMs, namespace }: CallRequest): Buffer {
  const metadata = [{ key: 'containerd-namespace-ttrpc', value: namespace }];
  return encodeMessage(REQUEST, { service, method, payload, timeoutNs: `${timeoutMs}000000`, metadata });
}

/** Null for bytes that are no response. */
export function decodeResponse(body: Buffer): CallResponse | null {
  const response = decodeMessage(RESPONSE, body);
  if (response === null) return null;
  const { status, payload } = response;
  if (status !== null && status.code !== 0) return { kind: 'status', code: status.code, message: status.message };
  return { kind: 'payload', payload };
}
