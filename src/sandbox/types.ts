import type { Outcome } from '../host/port.ts';

/** Who is meant: a sandbox, its shims and its containers, as /proc and the state directories show them. */

/** One live shim server process. */
export interface Shim {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat, clock ticks since boot: with the pid, the identity of the process. */
  readonly startTicks: string;
  /** v2: io.containerd.runtime.v2.task; v1: io.containerd.runtime.v1.linux. */
  readonly generation: 'v2' | 'v1';
  /** Bundle directory, from the cwd link (v1: the workdir's id under the state directory). */
  readonly bundle: string;
  /** The bundle was deleted under a living shim: cwd ends in ` (deleted)`, basename `.<id>`. */
  readonly bundleDeleted: boolean;
  /** containerd namespace: k8s.io, moby, default. */
  readonly namespace: string;
  /** Basename of the bundle: the sandbox id with CRI, the container id with ctr and docker. */
  readonly id: string;
  readonly state: string;
  /** From readlink <bundle>/work; null when that did not answer. */
  readonly root: string | null;
  readonly argv: readonly string[] | null;
  readonly exe: string | null;
  /** gRPC address of its containerd: argv -address. */
  readonly address: string | null;
  /** ttrpc socket of the shim: <bundle>/address or bootstrap.json. */
  readonly socket: string | null;
  readonly shimVersion: 2 | 3 | null;
}

export interface Container {
  readonly id: string;
  readonly kind: 'sandbox' | 'container';
  /** Name in the pod spec, docker's name, or null. */
  readonly name: string | null;
  readonly bundle: string;
  /** pid of its init in the host's namespace, from runc's state.json, else <bundle>/init.pid; null when unknown. */
  readonly initPid: number | null;
  /** runc's init_process_start; null when unknown. Equals startTicks of the init while it is the same process. */
  readonly initStartTicks: string | null;
  /** Directory of runc's state: /run/containerd/runc/<ns>/<id>. */
  readonly runcState: string;
  readonly shimPid: number | null;
  /** How it was found: 'annotation', 'address', 'own bundle', 'log directory', 'docker labels'. */
  readonly how: string;
}

export interface Pod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string | null;
}

export interface Sandbox {
  readonly id: string;
  readonly namespace: string;
  readonly pod: Pod | null;
  readonly runtime: 'containerd' | 'docker';
  /** One with CRI; with docker one per container, pause included; none for a remnant. */
  readonly shims: readonly Shim[];
  readonly containers: readonly Container[];
}

/** What is left of a pod that has no shim: never created, or gone. */
export interface Remnant {
  readonly what: string;
  readonly pod: Pod | null;
  /** Sandbox or container ids met in the remains. */
  readonly ids: readonly string[];
  /** Paths that were found: /var/log/pods/…, /var/lib/kubelet/pods/<uid>, CRI store directories. */
  readonly paths: readonly string[];
}

export type Target =
  | { readonly kind: 'sandbox'; readonly asked: string | null; readonly how: string; readonly sandbox: Sandbox }
  | { readonly kind: 'remnant'; readonly asked: string; readonly how: string; readonly remnant: Remnant }
  | { readonly kind: 'node'; readonly asked: null; readonly how: string };

/** A containerd or dockerd of the node; more than one is normal. */
export interface RuntimeDaemon {
  readonly kind: 'containerd' | 'dockerd';
  readonly pid: number;
  readonly startTicks: string;
  readonly exe: string | null;
  readonly argv: readonly string[] | null;
  /** State letter of /proc/<pid>/stat: T is stopped. */
  readonly procState: string;
  readonly address: string | null;
  readonly root: string | null;
  readonly state: string | null;
}

/** Everything found about sandboxes at one moment. */
export interface Inventory {
  readonly sandboxes: readonly Sandbox[];
  readonly daemons: readonly RuntimeDaemon[];
  /** What hung or was denied while looking, for the manifest. */
  readonly gaps: readonly { readonly path: string; readonly outcome: Outcome; readonly detail?: string }[];
}
