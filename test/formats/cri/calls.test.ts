import { fileURLToPath } from 'node:url';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { describe, expect, it } from 'vitest';
import { type CriMethod, decodeAnswer, encodeQuestion } from '../../../src/formats/cri/calls.ts';

/** The lab's part of api.proto, by the usual tools: what is written here by tables is read there, and the other way round. */
const PROTO = fileURLToPath(new URL('../../lab/cri.proto', import.meta.url));
const service = loadSync(PROTO, { defaults: true, longs: String })['runtime.v1.RuntimeService'] as ServiceDefinition;
const methodOf = (name: CriMethod) => service[name] as MethodDefinition<object, object>;
const understood = (question: Parameters<typeof encodeQuestion>[0]) =>
  methodOf(question.method).requestDeserialize(encodeQuestion(question));
const answered = (method: CriMethod, answer: object) =>
  decodeAnswer(method, methodOf(method).responseSerialize(answer));

describe('a question to CRI', () => {
  it('about one id never asks to be verbose', () => {
    expect(understood({ method: 'ContainerStatus', id: 'app' })).toEqual({ id: 'app', verbose: false });
    expect(understood({ method: 'PodSandboxStatus', id: 'pod' })).toEqual({ id: 'pod', verbose: false });
  });

  it('for a list names the sandbox in its filter, or nobody', () => {
    // PodSandboxFilter has id as field 1, ContainerFilter pod_sandbox_id as field 3.
    const hex = (question: Parameters<typeof encodeQuestion>[0]) => encodeQuestion(question).toString('hex');
    expect(hex({ method: 'ListPodSandbox', sandboxId: 'pod' })).toBe('0a050a03706f64');
    expect(hex({ method: 'ListContainers', sandboxId: 'pod' })).toBe('0a051a03706f64');
    expect(hex({ method: 'ListContainers', sandboxId: null })).toBe('');
    expect(hex({ method: 'Version' })).toBe('');
  });
});

describe('an answer of CRI', () => {
  it('tells the state of a container, with its times in nanoseconds', () => {
    const status = {
      ...{ id: 'app', metadata: { name: 'web', attempt: 2 }, exitCode: 137, reason: 'OOMKilled', message: 'killed' },
      ...{ createdAt: '1795952553569323491', startedAt: '1795952553569323492', finishedAt: '0' },
    };
    expect(answered('ContainerStatus', { status: { ...status, state: 'CONTAINER_RUNNING' } })).toEqual({
      status: { ...status, state: 'CONTAINER_RUNNING' },
    });
  });

  it('tells the state of a sandbox, and those of a list', () => {
    const status = { id: 'pod', metadata: { name: 'web-0', uid: 'u', namespace: 'shop', attempt: 0 } };
    expect(answered('PodSandboxStatus', { status: { ...status, state: 'SANDBOX_NOTREADY', createdAt: '5' } })).toEqual({
      status: { ...status, state: 'SANDBOX_NOTREADY', createdAt: '5' },
    });
    const container = { id: 'app', metadata: { name: 'web', attempt: 0 }, createdAt: '7' };
    expect(
      answered('ListContainers', { containers: [{ ...container, podSandboxId: 'pod', state: 'CONTAINER_EXITED' }] }),
    ).toEqual({ containers: [{ ...container, sandboxId: 'pod', state: 'CONTAINER_EXITED' }] });
    expect(decodeAnswer('ListContainers', Buffer.alloc(0))).toEqual({ containers: [] });
    expect(
      answered('Version', { runtimeName: 'containerd', runtimeVersion: '1.6.20', version: '0.1.0' }),
    ).toMatchObject({
      runtimeVersion: '1.6.20',
    });
  });

  it('tells the sandboxes of a list', () => {
    // The lab lists none: `repeated PodSandbox items = 1`, with id 1 and state 3.
    const list = Buffer.from('0a070a03706f6418010a00', 'hex');
    expect(decodeAnswer('ListPodSandbox', list)).toMatchObject({
      sandboxes: [
        { id: 'pod', state: 'SANDBOX_NOTREADY' },
        { state: 'SANDBOX_READY', metadata: null },
      ],
    });
  });

  it('may have a state that is not known here, no status, or be none', () => {
    expect(decodeAnswer('ContainerStatus', Buffer.from('0a021809', 'hex'))).toMatchObject({
      status: { state: 'state 9' },
    });
    expect(decodeAnswer('PodSandboxStatus', Buffer.alloc(0))).toEqual({ status: null });
    expect(decodeAnswer('ContainerStatus', Buffer.from('0a050a', 'hex'))).toBeNull();
  });
});
