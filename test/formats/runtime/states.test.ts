import { describe, expect, it } from 'vitest';
import { parseCriStatus } from '../../../src/formats/runtime/cri-status.ts';
import { parseDockerContainer } from '../../../src/formats/runtime/docker-container.ts';
import { parseRuncState, RUNC_STATE_BEGINNING_BYTES } from '../../../src/formats/runtime/runc-state.ts';
import { stateText } from './fixture.ts';

describe("runc's state.json", () => {
  it('names the init, its start and the annotations', () => {
    const state = parseRuncState(stateText('1.6.20/runc/container-state.json'));
    expect(state).toMatchObject({ initPid: 2503, initStartTicks: '92697', created: '2026-11-29T11:42:33.539118367Z' });
    expect(state?.labels.get('io.kubernetes.cri.container-name')).toBe('app1');
    expect(state?.labels.get('bundle')).toMatch(/\/k8s\.io\/48da8b6d/);
  });

  it.each(['1.6.20/runc/sandbox-state.json', '2.3.4/runc/container-state.json', 'moby/plain/runc-state.json'])(
    'says the same of the init by its beginning alone: %s',
    name => {
      const whole = parseRuncState(stateText(name));
      const beginning = parseRuncState(stateText(name).slice(0, RUNC_STATE_BEGINNING_BYTES));
      expect(whole?.initPid).toBeGreaterThan(1);
      expect(beginning).toEqual({ ...whole, labels: new Map() });
    },
  );

  // The last one is youki's.
  it.each(['', '{', '{"id":"x"', '{}', '[]', '{"id":"x","status":"running","pid":7}'])('is null for %j', text => {
    expect(parseRuncState(text)).toBeNull();
  });

  it('has no init pid where runc wrote 0', () => {
    expect(parseRuncState('{"id":"x","init_process_pid":0,"init_process_start":0,"created":""}')?.initPid).toBeNull();
  });
});

describe('the CRI status file', () => {
  const text = stateText('2.3.4/cri/container-status.json');

  it('keeps its nanoseconds', () => {
    expect(parseCriStatus(text)).toEqual({
      state: 'RUNNING',
      pid: 2863,
      createdAtNs: '1795952554401352324',
      startedAtNs: '1795952554488831632',
      finishedAtNs: '0',
      exitCode: 0,
      reason: null,
    });
  });

  it('says exited when it has finished, whatever the pid', () => {
    const exited = text
      .replace('"FinishedAt":0', '"FinishedAt":1795952560000000001')
      .replace('"ExitCode":0', '"ExitCode":137');
    expect(parseCriStatus(exited)).toMatchObject({
      state: 'EXITED',
      finishedAtNs: '1795952560000000001',
      exitCode: 137,
    });
  });

  it('says created when it has not started', () => {
    expect(parseCriStatus(text.replace(/"StartedAt":\d+/, '"StartedAt":0'))).toMatchObject({ state: 'CREATED' });
  });

  it.each(['', '{"Version":', '{}', '7'])('is null for %j', broken => {
    expect(parseCriStatus(broken)).toBeNull();
  });
});

describe("docker's config.v2.json", () => {
  it('of a pod carries its labels', () => {
    const sandbox = parseDockerContainer(stateText('moby/sandbox/config.v2.json'));
    const container = parseDockerContainer(stateText('moby/container/config.v2.json'));
    const pod = { name: 'web-0', namespace: 'shop', uid: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0' };
    expect(sandbox?.kubernetes).toEqual({ type: 'sandbox', sandboxId: null, containerName: 'POD', pod });
    expect(container?.kubernetes).toEqual({ type: 'container', sandboxId: sandbox?.id, containerName: 'nginx', pod });
  });

  it('of plain docker has a name, a state and no pod', () => {
    const plain = parseDockerContainer(stateText('moby/plain/config.v2.json'));
    expect(plain).toMatchObject({ name: 'registry', running: true, paused: false, kubernetes: null });
    expect(plain?.pid).toBeGreaterThan(1);
  });

  it.each(['', '{"ID":""}', '{'])('is null for %j', broken => {
    expect(parseDockerContainer(broken)).toBeNull();
  });
});
