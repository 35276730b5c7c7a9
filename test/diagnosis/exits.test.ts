import { describe, expect, it } from 'vitest';
import { clockStepMs, withoutStep } from '../../src/diagnosis/clock-step.ts';
import { believedRunning, endedFor, exitOf, hasEnded, nameOf } from '../../src/diagnosis/exits.ts';
import type { ContainerFacts, CriStatusFact, DockerFact, ShimAnswer } from '../../src/diagnosis/facts.ts';
import { CONTAINER_ID, containerOf, eventOf, factsOf, logsOf, podThreads, STARTED_AT, shimOf } from './facts-of.ts';
import { factsOfBundle } from './fixture-bundle.ts';

const cited = (text: string) => ({ entry: 'x', line: 1, text });
const HOUR = 3_600_000;

const answer = (exitedAt: number | null) =>
  ({ status: 'STOPPED', exitedAt, cite: cited('State') }) as unknown as ShimAnswer;
const exited = (agoMs: number, exitedAgoMs = agoMs) =>
  eventOf('exit-received', { agoMs, exitedAt: STARTED_AT - exitedAgoMs });

/** A container that runc wrote down `agoMs` ago by its clock, and which started `ticksMs` after the boot. */
const startedAt = (agoMs: number, ticksMs: number) =>
  containerOf({
    runc: {
      ...{
        id: CONTAINER_ID,
        initPid: 1,
        initStartTicks: String(ticksMs / 10),
        labels: new Map(),
        file: null,
        cite: cited('state.json'),
      },
      created: new Date(STARTED_AT - agoMs).toISOString(),
    },
  });

describe('the end of a container', () => {
  it("is what the shim says, else the newest exit event, and how long ago by the capture's clock", () => {
    const facts = factsOf({ logs: logsOf([exited(90_000), exited(60_000)]) });
    expect(exitOf(containerOf(), facts)).toMatchObject({
      ageMs: 60_000,
      ageFrom: expect.stringContaining('the exit event in the log, 1 min before'),
    });
    expect(exitOf(containerOf({ shimAnswer: answer(STARTED_AT - 70_000) }), facts)).toMatchObject({ ageMs: 70_000 });
    expect(exitOf(containerOf({ shimAnswer: answer(null) }), facts)).toMatchObject({ ageMs: 60_000 });
  });

  it('is unknown without one, for another container, and for times that cannot be', () => {
    expect(exitOf(containerOf(), factsOf())).toBeNull();
    expect(exitOf(containerOf({ id: 'd2'.repeat(32) }), factsOf({ logs: logsOf([exited(60_000)]) }))).toBeNull();
    // Reported a minute before it was, and after the capture.
    expect(exitOf(containerOf(), factsOf({ logs: logsOf([exited(120_000, 60_000)]) }))).toBeNull();
    expect(exitOf(containerOf({ shimAnswer: answer(STARTED_AT + HOUR) }), factsOf())).toBeNull();
  });

  it('is a lower bound by the quiet of the shim, in a capture of a lost exit', () => {
    const facts = factsOfBundle('exit-event-lost');
    const asked = facts.containers?.find(({ kind }) => kind === 'container') as ContainerFacts;
    expect(endedFor(asked, facts)).toMatchObject({ ageFrom: expect.stringContaining("the shim's answer") });
    const container = { ...asked, shimAnswer: null };
    const look = facts.shims?.[0]?.firstLook ?? [];
    expect(look.length).toBeGreaterThan(5);
    const least = Math.min(...look.map(({ blockedForMs }) => blockedForMs ?? 0));
    expect(endedFor(container, facts)).toMatchObject({ ageMs: least, words: expect.stringMatching(/ at least$/) });
  });

  it('is unknown where nobody tells and the shim was not looked at', () => {
    expect(endedFor(containerOf({ init: 'gone' }), factsOf({ shims: [shimOf()], threads: podThreads() }))).toBeNull();
    expect(endedFor(containerOf({ init: 'gone' }), factsOf())).toBeNull();
  });
});

describe('a container in words', () => {
  it('has a name, a short id, or is the sandbox', () => {
    expect(nameOf(containerOf())).toBe('container app (c1c1c1c1c1c1)');
    expect(nameOf(containerOf({ name: null }))).toBe('container c1c1c1c1c1c1');
    expect(nameOf(containerOf({ kind: 'sandbox' }))).toBe('the sandbox (c1c1c1c1c1c1)');
  });

  it('has ended when it is gone, a zombie, or its pid is somebody else, and not when nobody looked', () => {
    expect((['gone', 'zombie', 'reused'] as const).map(init => hasEnded(containerOf({ init })))).toEqual([
      true,
      true,
      true,
    ]);
    expect((['alive', null] as const).map(init => hasEnded(containerOf({ init })))).toEqual([false, false]);
  });

  it('is believed to run by CRI, or by docker', () => {
    const criStatus = { state: 'RUNNING', cite: cited('status') } as unknown as CriStatusFact;
    const docker = { running: true, cite: cited('config') } as unknown as DockerFact;
    expect(believedRunning(containerOf({ criStatus }))).toMatchObject({ by: 'CRI' });
    expect(believedRunning(containerOf({ docker }))).toMatchObject({ by: 'docker' });
    expect(
      believedRunning(containerOf({ criStatus: { ...criStatus, state: 'CREATED' }, docker: 'absent' })),
    ).toBeNull();
  });
});

describe('a clock that was set', () => {
  // The capture's node has been up for 1,000,000 s.
  const UP = 1_000_000_000;

  it('shows in the time of boot that the start of a container gives', () => {
    expect(clockStepMs(factsOf({ containers: [startedAt(HOUR, UP - HOUR)] }))).toBe(0);
    expect(clockStepMs(factsOf({ containers: [startedAt(3 * HOUR, UP - HOUR)] }))).toBe(2 * HOUR);
    expect(clockStepMs(factsOf({ containers: [startedAt(-HOUR, UP - HOUR)] }))).toBe(-2 * HOUR);
    expect(clockStepMs(factsOf({ containers: [containerOf()] }))).toBeNull();
    expect(clockStepMs(factsOf({ containers: [startedAt(HOUR, UP)], capture: { uptimeSeconds: null } }))).toBeNull();
  });

  it('is not counted as waiting when it was set forward', () => {
    expect(withoutStep(3 * HOUR, factsOf({ containers: [startedAt(3 * HOUR, UP - HOUR)] }))).toBeLessThanOrEqual(HOUR);
    expect(withoutStep(3 * HOUR, factsOf({ containers: [startedAt(HOUR, UP - HOUR)] }))).toBe(3 * HOUR);
    expect(withoutStep(3 * HOUR, factsOf())).toBe(3 * HOUR);
  });

  it('is not seen where nobody set it, in captures', () => {
    for (const name of ['healthy', 'containerd-restarted', 'runc-delete-held'])
      expect(clockStepMs(factsOfBundle(name))).toBeLessThan(1000);
  });
});
