/** What the API server noted of an object: an Event, or a moment that `kubectl describe` shows. */
export interface KubernetesEvent {
  /** When it was seen last, ms since 1970; null where neither a time nor an age with a known moment of writing is there. */
  readonly at: number | null;
  /** When it was seen first; null for one that was seen once, or where it is not said. */
  readonly firstAt: number | null;
  /** Its time is the age in a table, counted back from when that was written: right to a unit of what it shows (`14m`). */
  readonly age: string | null;
  readonly count: number;
  readonly isWarning: boolean;
  /** `FailedKillPod`; `Started` and `Finished` of a container's state. */
  readonly reason: string;
  /** At most 300 characters. */
  readonly message: string;
  /** `pod/web-0`; null where the text is about one object (describe). */
  readonly object: string | null;
  /** Container, where it is said. */
  readonly container: string | null;
  /** `kubelet`, `default-scheduler`. */
  readonly from: string | null;
  /** From 1. */
  readonly line: number;
  /** That line. */
  readonly text: string;
}

export interface ParsedEvents {
  readonly events: readonly KubernetesEvent[];
  /** What keeps a document from being read whole: `line 7: Missing closing "quote`; null for one without a fault, and for tables. */
  readonly fault: string | null;
}
