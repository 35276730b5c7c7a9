import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKubernetesEvents } from '../../../src/formats/kubernetes/events.ts';

const WRITTEN = Date.UTC(2026, 10, 29, 11, 42, 30);
const at = (text: string) => Date.parse(text);
const eventsIn = async (text: string, writtenAt: number | null) =>
  (await parseKubernetesEvents(text, writtenAt)).events;

/** Laid out as kubectl 1.28 does it; written by hand. */
const DESCRIBE = `Name:                      web-0
Namespace:                 shop
Start Time:                Sun, 29 Nov 2026 11:26:30 +0000
Status:                    Terminating (lasts 14m)
Termination Grace Period:  30s
Containers:
  app:
    Container ID:  containerd://c1c1
    State:          Running
      Started:      Sun, 29 Nov 2026 11:26:33 +0000
    Last State:     Terminated
      Reason:       Error
      Exit Code:    137
      Started:      Sun, 29 Nov 2026 11:20:00 +0000
      Finished:     Sun, 29 Nov 2026 11:26:31 +0000
    Ready:          True
Conditions:
  Type              Status
  Ready             True
Events:
  Type     Reason         Age                  From               Message
  ----     ------         ----                 ----               -------
  Normal   Scheduled      16m                  default-scheduler  Successfully assigned shop/web-0 to node-1
  Normal   Killing        <unknown>            kubelet            Stopping container app
  Warning  FailedKillPod  2m3s (x7 over 14m)   kubelet            error killing pod: failed to "KillContainer" for "app":  DeadlineExceeded
`;

describe('kubectl describe pod', async () => {
  const events = await eventsIn(DESCRIBE, WRITTEN);
  const of = (reason: string) => events.filter(event => event.reason === reason);

  it('has events with ages, counted back from when it was written', () => {
    expect(of('FailedKillPod')).toEqual([
      {
        ...{ at: WRITTEN - 123_000, firstAt: WRITTEN - 840_000, age: '2m3s', count: 7, isWarning: true },
        ...{ reason: 'FailedKillPod', object: null, container: null, from: 'kubelet', line: 25 },
        message: 'error killing pod: failed to "KillContainer" for "app": DeadlineExceeded',
        text: expect.stringContaining('Warning FailedKillPod'),
      },
    ]);
    expect(of('Scheduled')).toMatchObject([{ at: WRITTEN - 960_000, from: 'default-scheduler', isWarning: false }]);
    expect(of('Killing')).toMatchObject([{ at: null }]);
  });

  it('has the times of the containers, and since when the pod should have ended', () => {
    expect(of('Started')).toMatchObject([
      { at: at('2026-11-29T11:26:33Z'), container: 'app', message: 'State: Running' },
      { at: at('2026-11-29T11:20:00Z'), container: 'app', message: 'Last State: Terminated (Error)' },
    ]);
    expect(of('Finished')).toMatchObject([{ at: at('2026-11-29T11:26:31Z'), container: 'app' }]);
    expect(of('StartTime')).toMatchObject([{ at: at('2026-11-29T11:26:30Z'), container: null }]);
    expect(of('Terminating')).toMatchObject([{ at: WRITTEN - 840_000, age: '14m', isWarning: true }]);
  });

  it('has no times out of ages when nobody knows when it was written', async () => {
    expect((await eventsIn(DESCRIBE, null)).filter(({ age }) => age !== null)).toMatchObject([
      { reason: 'Terminating', at: null },
      { reason: 'Scheduled', at: null },
      { reason: 'Killing', at: null },
      { reason: 'FailedKillPod', at: null, firstAt: null },
    ]);
  });
});

describe('kubectl get events', () => {
  it.each([
    [
      'as a table',
      `LAST SEEN   TYPE      REASON          OBJECT      MESSAGE
14m         Normal    Killing         pod/web-0   Stopping container app
2m3s        Warning   FailedKillPod   pod/web-0   error killing pod
No resources found in other namespace.
`,
    ],
    [
      'as a wide table',
      `NAMESPACE   LAST SEEN   TYPE      REASON          OBJECT      SUBOBJECT                SOURCE            MESSAGE                  FIRST SEEN   COUNT   NAME
shop        14m         Normal    Killing         pod/web-0   spec.containers{app}     kubelet, node-1   Stopping container app   14m          1       web-0.1
shop        2m3s        Warning   FailedKillPod   pod/web-0   spec.containers{app}     kubelet, node-1   error killing pod        14m          7       web-0.2
`,
    ],
  ])('%s', async (_, text) => {
    expect(await eventsIn(text, WRITTEN)).toMatchObject([
      { reason: 'Killing', at: WRITTEN - 840_000, object: 'pod/web-0', message: 'Stopping container app', line: 2 },
      { reason: 'FailedKillPod', at: WRITTEN - 123_000, isWarning: true, message: 'error killing pod', line: 3 },
    ]);
  });

  const EVENT = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'web-0.17', namespace: 'shop', creationTimestamp: '2026-11-29T11:28:30Z' },
    involvedObject: { kind: 'Pod', name: 'web-0', fieldPath: 'spec.containers{app}' },
    ...{ reason: 'FailedKillPod', message: 'error killing pod: "app"', type: 'Warning', count: 7 },
    ...{ firstTimestamp: '2026-11-29T11:28:30Z', lastTimestamp: '2026-11-29T11:40:27Z', eventTime: null },
    source: { component: 'kubelet', host: 'node-1' },
  };
  const SEEN = {
    ...{ at: at('2026-11-29T11:40:27Z'), firstAt: at('2026-11-29T11:28:30Z'), age: null, count: 7, isWarning: true },
    ...{ reason: 'FailedKillPod', object: 'pod/web-0', container: 'app', from: 'kubelet' },
    message: 'error killing pod: "app"',
  };

  it('as JSON: a list, an array, one', async () => {
    for (const document of [{ kind: 'List', items: [EVENT] }, [EVENT], EVENT]) {
      expect(await eventsIn(JSON.stringify(document, null, 2), null)).toMatchObject([SEEN]);
    }
  });

  it('as JSON of events.k8s.io', async () => {
    const { involvedObject, message, count, firstTimestamp, lastTimestamp, source: _, ...rest } = EVENT;
    const event = {
      ...{ ...rest, note: message, regarding: involvedObject, reportingController: 'kubelet' },
      ...{ deprecatedCount: count, deprecatedFirstTimestamp: firstTimestamp, deprecatedLastTimestamp: lastTimestamp },
    };
    expect(await eventsIn(JSON.stringify({ items: [event] }), null)).toMatchObject([SEEN]);
  });

  /** As kubectl writes it; by hand. */
  const item = (message = `message: 'error killing pod: "app"'`) => `- apiVersion: v1
  count: 7
  eventTime: null
  firstTimestamp: "2026-11-29T11:28:30Z"
  involvedObject:
    fieldPath: spec.containers{app}
    kind: Pod
    name: web-0
  kind: Event
  lastTimestamp: "2026-11-29T11:40:27Z"
  ${message}
  metadata:
    name: web-0.17
  reason: FailedKillPod
  source:
    component: kubelet
  type: Warning
`;
  const list = (...items: readonly string[]) =>
    `apiVersion: v1\nitems:\n${items.join('')}kind: List\nmetadata:\n  resourceVersion: ""\n`;

  it('as YAML, with messages in quotes, in a block, and over several lines', async () => {
    const messages = [
      `message: 'error killing pod: "app"'`,
      `message: "error killing pod: \\"app\\""`,
      `message: |-\n    error killing pod:\n    "app"`,
      `message: "error killing\n    pod: \\"app\\""`,
    ];
    const { events, fault } = await parseKubernetesEvents(list(...messages.map(item)), null);
    expect(fault).toBeNull();
    expect(events).toMatchObject([
      { ...SEEN, line: 13 },
      { ...SEEN, line: 30 },
      { ...SEEN, line: 47 },
      { ...SEEN, line: 66 },
    ]);
  });

  it('as YAML: one Event, several documents, a list in braces or set in', async () => {
    const one = item().replace(/^(?:- | {2})/gm, '');
    for (const [text, lines] of [
      [one, [11]],
      [`${one}---\n${one}`, [11, 29]],
      [list(item()).replace(/^(?=- | {2})/gm, '  '), [13]],
    ] as const) {
      expect(await parseKubernetesEvents(text, null)).toMatchObject({
        events: lines.map(line => ({ ...SEEN, line })),
        fault: null,
      });
    }
  });

  it('as YAML that was cut, up to there, and says so', async () => {
    const cut = list(item(), item(`message: "error killing pod`)).slice(0, -120);
    const { events, fault } = await parseKubernetesEvents(cut, null);
    expect(events[0]).toMatchObject(SEEN);
    expect(fault).toMatch(/^line \d+: Missing closing "quote$/);
  });

  it('as YAML that refers to itself: nothing grows', async () => {
    const bomb = `kind: List\na: &a [x, x]\n${'bcdefghij'.replace(/./g, n => `${n}: &${n} [*a, *a, *a, *a]\n`)}`;
    expect(await parseKubernetesEvents(bomb, null)).toMatchObject({ events: [] });
    const aliased = list(item('message: &m hello'), item('message: *m'));
    const { events, fault } = await parseKubernetesEvents(aliased, null);
    expect(events).toMatchObject([{ message: 'hello' }]);
    expect(fault).toMatch(/^line 20: /);
  });
});

describe('anything else', () => {
  it.each([
    ['nothing', '', null],
    ["kubectl's word for it", 'No resources found in shop namespace.\n', null],
    ['half a document', '{"kind": "Po', expect.stringContaining('JSON')],
    ['an array of others', '[1, null, "x"]', null],
    ['a list of others', 'items:\n- 7\n', null],
    ['YAML that is none', 'kind: List\nitems:\n- - - ? {\n', expect.stringMatching(/^line \d+: /)],
    ['YAML deeper than the stack', `kind: List\na: ${'['.repeat(20_000)}`, expect.stringMatching(/^line \d+: /)],
  ])('has no events: %s', async (_, text, fault) => {
    expect(await parseKubernetesEvents(text, WRITTEN)).toEqual({ events: [], fault });
  });

  it('never throws, and no text is long', async () => {
    const lines = (text: string) =>
      fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...text.split('\n'))));
    const short = async (text: string) => (await eventsIn(text, WRITTEN)).every(({ message }) => message.length <= 300);
    await fc.assert(fc.asyncProperty(lines(DESCRIBE), some => short(some.join('\n'))));
    await fc.assert(fc.asyncProperty(fc.json(), short));
    await fc.assert(
      fc.asyncProperty(lines(YAML), some => short(`items:\n${some.join('\n')}`)),
      { numRuns: 50 },
    );
    expect(await short(`${DESCRIBE}  Warning  Failed  1m  kubelet  ${'x'.repeat(5000)}\n`)).toBe(true);
  });
});

const YAML = `- apiVersion: v1
  count: 7
  involvedObject: &of
    fieldPath: spec.containers{app}
  message: |-
    error killing
   "pod": *of
  metadata: *of
  reason: FailedKillPod
  type: Warning
---
kind: List`;
