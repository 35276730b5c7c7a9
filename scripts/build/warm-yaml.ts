import type * as Yaml from '../../src/formats/kubernetes/yaml-events.ts';
import { load } from './load.ts';

/** Reads an event as kubectl writes it, so that the code cache knows what that needs. */
load<typeof Yaml>('yaml').eventsOfYaml(`apiVersion: v1
items:
- apiVersion: v1
  count: 7
  involvedObject:
    kind: Pod
    name: web-0
  lastTimestamp: "2026-11-29T11:40:27Z"
  message: 'error killing pod: "app"'
  note: |-
    in a
    block
  reason: FailedKillPod
  type: Warning
kind: List
metadata: {}
`);
