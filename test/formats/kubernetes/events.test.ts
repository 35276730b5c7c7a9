import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKubernetesEvents } from '../../../src/formats/kubernetes/events.ts';

const WRITTEN = Date.UTC(2026, 10, 29, 11, 42, 30);
const at = (text: string) => Date.parse(text);

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

describe('kubectl describe pod', () => {
  const events = parseKubernetesEvents(DESCRIBE, WRITTEN);
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

  it('has no times out of ages when nobody knows when it was written', () => {
    expect(parseKubernetesEvents(DESCRIBE, null).filter(({ age }) => age !== null)).toMatchObject([
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
  ])('%s', (_, text) => {
    expect(parseKubernetesEvents(text, WRITTEN)).toMatchObject([
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

  it('as JSON: a list, an array, one', () => {
    for (const document of [{ kind: 'List', items: [EVENT] }, [EVENT], EVENT]) {
      expect(parseKubernetesEvents(JSON.stringify(document, null, 2), null)).toMatchObject([SEEN]);
    }
  });

  it('as JSON of events.k8s.io', () => {
    const { involvedObject, message, count, firstTimestamp, lastTimestamp, source: _, ...rest } = EVENT;
    const event = {
      ...{ ...rest, note: message, regarding: involvedObject, reportingController: 'kubelet' },
      ...{ deprecatedCount: count, deprecatedFirstTimestamp: firstTimestamp, deprecatedLastTimestamp: lastTimestamp },
    };
    expect(parseKubernetesEvents(JSON.stringify({ items: [event] }), null)).toMatchObject([SEEN]);
  });

  it('as YAML, with messages in quotes, in a block, and over several lines', () => {
    const item = (message: string) => `- apiVersion: v1
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
    const messages = [
      `message: 'error killing pod: "app"'`,
      `message: "error killing pod: \\"app\\""`,
      `message: |-\n    error killing pod:\n    "app"`,
      `message: error killing pod:\n    "app"`,
    ];
    const events = parseKubernetesEvents(`apiVersion: v1\nitems:\n${messages.map(item).join('')}kind: List\n`, null);
    expect(events).toHaveLength(4);
    for (const event of events) expect(event).toMatchObject(SEEN);
  });
});

describe('anything else', () => {
  it('has no events', () => {
    for (const text of [
      '',
      'No resources found in shop namespace.\n',
      '{"kind": "Po',
      '[1, null, "x"]',
      'items:\n- 7\n',
    ]) {
      expect(parseKubernetesEvents(text, WRITTEN)).toEqual([]);
    }
  });

  it('never throws, and is bounded in number and length', () => {
    const lines = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...DESCRIBE.split('\n'))));
    fc.assert(fc.property(lines, some => parseKubernetesEvents(some.join('\n'), WRITTEN).length <= 500));
    fc.assert(fc.property(fc.json(), text => parseKubernetesEvents(text, WRITTEN).length <= 500));
    const many = `${DESCRIBE}${`  Warning  Failed  1m  kubelet  ${'x'.repeat(5000)}\n`.repeat(2000)}`;
    const events = parseKubernetesEvents(many, WRITTEN);
    expect(events).toHaveLength(500);
    expect(Math.max(...events.map(({ message }) => message.length))).toBe(300);
  });
});
