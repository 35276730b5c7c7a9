import type { Cri } from './cri.ts';
import type { LabFolder } from './folder.ts';

/** A containerd that answers: what it takes to run something in it. */
export interface RunningContainerd {
  readonly folder: LabFolder;
  /** Its state directory, below which the bundles lie. */
  readonly state: string;
  readonly cri: Cri;
  /** Runs ctr against it, in namespace k8s.io unless `-n` is given. @returns stdout @throws ExecaError */
  ctr(args: readonly string[], timeoutMs?: number): Promise<string>;
}
