import { createReadStream } from 'node:fs';
import { BundleReader } from '../../src/bundle/read.ts';
import { isFunction } from '../../src/formats/goroutines/goroutine.ts';
import { parseGoroutines } from '../../src/formats/goroutines/parse-goroutines.ts';
import { parseDiskstats } from '../../src/formats/proc/diskstats.ts';
import { parseStack } from '../../src/formats/proc/stack.ts';
import { parseThreadDump } from '../../src/formats/thread-dump.ts';
import type { StuckPod } from './make-stall.ts';

/** A part of the evidence: what it says, the entry it stands in, and the lines. */
export interface Exhibit {
  readonly says: string;
  readonly entry: string;
  readonly lines: readonly string[];
}

/** What the bundle has that explains the stall. @throws Error when a part of it is not there: then the demo has failed */
export async function exhibits(file: string, stuck: StuckPod): Promise<readonly Exhibit[]> {
  const entries = await readEntries(file);
  const text = (entry: string): string => {
    const found = entries.get(entry);
    if (found === undefined) throw new Error(`the bundle lacks ${entry}`);
    return found;
  };
  return [
    blockedThread('shim/threads-1.txt', text, stuck),
    unmountingGoroutine('shim/goroutines.txt', text),
    ...contradiction(text, stuck),
    ...(stuck.device === null ? [] : [busyDisk('node/samples.jsonl', text, stuck.device)]),
  ];
}

async function readEntries(file: string): Promise<ReadonlyMap<string, string>> {
  const entries = new Map<string, string>();
  for await (const entry of new BundleReader(createReadStream(file)).entries()) {
    entries.set(entry.path, (await entry.read()).toString('utf8'));
  }
  return entries;
}

type TextOf = (entry: string) => string;

function blockedThread(entry: string, text: TextOf, { thread }: StuckPod): Exhibit {
  const lines = text(entry).split('\n');
  const found = parseThreadDump(text(entry)).threads.find(({ tid }) => tid === thread.tid);
  if (found === undefined) throw new Error(`thread ${thread.tid} is not in ${entry}`);
  const frames = parseStack(found.stack?.join('\n') ?? '').map(({ symbol }) => symbol);
  return {
    says: 'The thread of the shim that hangs: its state, the system call (166 is umount2), and where in the kernel it stands.',
    entry,
    lines: [lines[found.line - 1] ?? '', found.syscall ?? '', frames.join(' < ')],
  };
}

function unmountingGoroutine(entry: string, text: TextOf): Exhibit {
  const unmounting = parseGoroutines(text(entry)).goroutines.find(({ frames }) =>
    frames.some(frame => isFunction(frame, 'Unmount')),
  );
  if (unmounting === undefined) throw new Error(`no goroutine in ${entry} unmounts`);
  return {
    says: 'The same in the words of its program, from the goroutine dump that it was asked for with SIGUSR1.',
    entry,
    lines: [
      `goroutine ${unmounting.id} [${unmounting.state}]`,
      ...unmounting.frames.slice(0, 9).map(({ function: name }) => `  ${name}`),
    ],
  };
}

function contradiction(text: TextOf, { container, initPid }: StuckPod): readonly Exhibit[] {
  const entry = `containers/${container.id}/status.json`;
  const { Pid, FinishedAt } = JSON.parse(text(entry));
  const row = text('node/processes.txt')
    .split('\n')
    .find(line => line.trimStart().startsWith(`${initPid} `));
  return [
    {
      says: 'What CRI tells the kubelet: the container has a process and has not finished.',
      entry,
      lines: [`"Pid":${Pid}, "FinishedAt":${FinishedAt}`],
    },
    {
      says: 'What the kernel says about that process.',
      entry: 'node/processes.txt',
      lines: [
        row ??
          `(none of ${text('node/processes.txt').trimEnd().split('\n').length - 1} threads is of process ${initPid})`,
      ],
    },
  ];
}

function busyDisk(entry: string, text: TextOf, device: string): Exhibit {
  const samples = text(entry)
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { readonly time: string; readonly files: Readonly<Record<string, string>> });
  const lines = samples.map(({ time, files }) => {
    const disk = parseDiskstats(files['/proc/diskstats'] ?? '').find(({ name }) => name === device);
    return `${time}  ${disk?.inFlight ?? '?'} requests in flight`;
  });
  return { says: `The disk below it, ${device}, one second apart: busy all the time.`, entry, lines };
}
