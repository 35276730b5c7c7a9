/** What src/host knows of standard streams that lead to a file. */
export interface FileStreams {
  leadsToFile(fd: 1 | 2): boolean;
  /** Null when it is written, else the reason. Never longer than the deadline. */
  writeToFile(fd: 1 | 2, text: string, deadlineMs: number): Promise<string | null>;
}

/** For a disk that is slow and does not hang; starting the child is in it. */
export const FILE_MS = 3000;

/** In a root without /proc this program cannot start itself. */
export function cannotStartChild(reason: string | null): boolean {
  return reason?.startsWith('spawn ') === true;
}
