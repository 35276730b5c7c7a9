import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeResponse, encodeCall } from '../../../src/formats/ttrpc/call.ts';
import { encodeFrame, REQUEST, type TtrpcFrame, TtrpcFrameReader } from '../../../src/formats/ttrpc/frame.ts';
import {
  connectMethod,
  decodeConnect,
  decodeState,
  encodeConnect,
  encodeState,
  TASK_SERVICES,
} from '../../../src/formats/ttrpc/task.ts';

const ID = '48da8b6d'.repeat(8);
const BUNDLE = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${ID}`.padEnd(122, 'x');

/** Hex, and text in quotes, to bytes. */
function bytes(spelled: string): Buffer {
  const parts = spelled.match(/'[^']*'|[0-9a-f]+/g) ?? [];
  return Buffer.concat(
    parts.map(part => (part[0] === "'" ? Buffer.from(part.slice(1, -1)) : Buffer.from(part, 'hex'))),
  );
}

const request = (api: 'v2' | 'v3', method: 'State' | 'Connect') =>
  encodeFrame({
    stream: 1,
    type: REQUEST,
    flags: 0,
    body: encodeCall({
      service: TASK_SERVICES[api],
      method,
      payload: method === 'State' ? encodeState(ID) : encodeConnect(api, ID),
      timeoutMs: 2000,
      namespace: 'k8s.io',
    }),
  });

const tail = `1a42 0a40 '${ID}' 20 80a8d6b907 2a24 0a1a 'containerd-namespace-ttrpc' 1206 'k8s.io'`;

describe('a call to a shim', () => {
  // As they went to and came from a shim of containerd 1.6.20, and 2.3.4 for v3.
  it('is the bytes that a shim of 1.6.20 understood', () => {
    expect(request('v2', 'State')).toEqual(
      bytes(`00000090 00000001 0100 0a17 'containerd.task.v2.Task' 1205 'State' ${tail}`),
    );
    expect(request('v2', 'Connect')).toEqual(
      bytes(`00000092 00000001 0100 0a17 'containerd.task.v2.Task' 1207 'Connect' ${tail}`),
    );
  });

  it('is the same for a shim of 2.3.4, by the name of its service', () => {
    expect(request('v3', 'State')).toEqual(
      bytes(`00000090 00000001 0100 0a17 'containerd.task.v3.Task' 1205 'State' ${tail}`),
    );
  });

  it('asks a v1 shim for ShimInfo, which takes nothing', () => {
    expect(connectMethod('v1')).toBe('ShimInfo');
    expect(encodeConnect('v1', ID)).toHaveLength(0);
  });
});

describe('the answer of a shim', () => {
  const answer = (spelled: string) => {
    const [frame] = new TtrpcFrameReader().push(bytes(spelled));
    return frame === undefined ? null : decodeResponse(frame.body);
  };
  const state = `000000d3 00000001 0200 12d001 0a40 '${ID}' 127a '${BUNDLE}' 18 9613 20 02 52 0b 088092b8c398feffffff01`;

  it('to State says what the container is, and that it has not exited', () => {
    const response = answer(state);
    expect(response?.kind === 'payload' && decodeState(response.payload)).toEqual({
      ...{ id: ID, bundle: BUNDLE, pid: 2454, status: 'RUNNING', exitStatus: 0, exitedAt: null },
      ...{ stdin: '', stdout: '', stderr: '', terminal: false },
    });
  });

  it('to State of one that was killed says when', () => {
    const exited = decodeState(bytes('20 03 48 8901 52 0c 08 c0c0abc906 10 e0e581dd01 5a 00'));
    expect(exited).toMatchObject({ status: 'STOPPED', exitStatus: 137, exitedAt: '2025-11-29T12:00:00.463Z' });
    expect(decodeState(bytes('20 63'))).toMatchObject({ status: 'UNKNOWN' });
  });

  it('to Connect names the pids of shim and task', () => {
    const response = answer('00000008 00000001 0200 1206 08 fe12 10 9613');
    expect(response?.kind === 'payload' && decodeConnect(response.payload)).toEqual({ shimPid: 2430, taskPid: 2454 });
  });

  it('may be an error, by google.rpc.Code', () => {
    const text = 'service containerd.task.v2.Task';
    expect(answer(`00000025 00000001 0200 0a23 080c 121f '${text}'`)).toEqual({
      kind: 'status',
      code: 12,
      message: text,
    });
  });

  it('is none when it is garbage', () => {
    expect(decodeResponse(bytes('12d001 0a40'))).toBeNull();
    expect(decodeState(bytes("0a05 '1234'"))).toBeNull();
    expect(decodeConnect(bytes('08 ff'))).toBeNull();
  });
});

describe('a stream of frames', () => {
  it('is the same however it is cut', () => {
    const frame = fc.record({
      stream: fc.nat(),
      type: fc.integer({ min: 1, max: 3 }),
      flags: fc.integer({ min: 0, max: 255 }),
      body: fc.uint8Array({ maxLength: 400 }).map(body => Buffer.from(body)),
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 8 }), (frames, cuts) => {
        const whole = Buffer.concat(frames.map(encodeFrame));
        const places = [0, ...cuts.map(cut => cut % (whole.length + 1)), whole.length].toSorted((a, b) => a - b);
        const reader = new TtrpcFrameReader();
        const read: TtrpcFrame[] = [];
        for (const [index, place] of places.entries())
          read.push(...reader.push(whole.subarray(places[index - 1] ?? 0, place)));
        expect(read).toEqual(frames);
        expect(reader.refusal).toBeNull();
      }),
    );
  });

  it('ends where a message of 4 GiB is announced, and nothing of it is held', () => {
    const reader = new TtrpcFrameReader();
    expect(reader.push(bytes('00000000 00000001 0200 ffffffff 00000003 0200 00'))).toHaveLength(1);
    expect(reader.refusal).toBe('announces a message of 4294967295 bytes');
    expect(reader.push(request('v2', 'State'))).toEqual([]);
  });

  it('is none where a gRPC server opens with its settings', () => {
    const reader = new TtrpcFrameReader();
    expect(reader.push(bytes('000006 04 00 00000000 0003 00000064'))).toEqual([]);
    expect(reader.refusal).toBe('sends a message of type 0');
  });
});
