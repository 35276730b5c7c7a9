import { monotonicMs } from '../clock.ts';
import { volunteerForOom } from '../expendable.ts';
import { lookAt } from '../look.ts';
import { Batch } from './batch.ts';
import { drain } from './drain.ts';
import { readFile } from './files.ts';
import { readKernelLog } from './kmsg.ts';
import { receive, send, waitInReads } from './pipes.ts';
import type { Request } from './protocol.ts';
import { markSignal } from './signal-marks.ts';
import { sweepFrame, sweepProcess } from './sweep.ts';

/**
 * The life of a probe: answer requests, one at a time and synchronously, until the parent is gone. What hangs here hangs
 * alone; the parent sees the silence, does the autopsy and goes on with another probe. Resolves to the exit code.
 */
export async function serveProbe(): Promise<number> {
  volunteerForOom();
  // One that is left behind must not keep the caller's directory busy; and it may have been removed, which execa dies of.
  process.chdir('/');
  send({ kind: 'ready' });
  for (;;) {
    const frame = receive();
    if (frame === null) return 0;
    const goOn = await answer(frame.header);
    if (!goOn) return 0;
  }
}

/** False when this probe ends with that request. */
async function answer(request: Request): Promise<boolean> {
  switch (request.op) {
    case 'files':
      return answerItems(request.items, (item, batch) => {
        // What was read is not to be lost with a read that hangs until the deadline; what lies in memory rarely does.
        if (!/^\/(proc|sys)\//.test(item.path)) batch.flush();
        const { reading, body } = readFile(item, batch.alive);
        return [reading, body];
      });
    case 'look':
      return answerItems(request.items, (pid, batch) => {
        batch.flush();
        const startMs = monotonicMs();
        return [{ ...lookAt(pid, { safe: false, onThread: batch.alive }), startMs }, EMPTY];
      });
    case 'sweep': {
      const frame = sweepFrame(request.tree, request.clocks);
      return answerItems(request.items, (item, batch) => {
        const { rows, blocked, ...rest } = sweepProcess(item, frame, batch.alive);
        const bodies = [Buffer.from(rows), Buffer.from(blocked)];
        const [rowsBytes, blockedBytes] = bodies.map(body => body.length);
        return [{ rowsBytes, blockedBytes, ...rest }, Buffer.concat(bodies)];
      });
    }
    case 'kmsg': {
      const { reading, body } = readKernelLog(request.maxBytes, new Batch().alive);
      send({ kind: 'done', result: reading }, body);
      return true;
    }
    case 'run': {
      const { runCommand } = await loadCommands();
      const { reading, left, children, body } = await runCommand(request.command, request.untilMs);
      send({ kind: 'done', result: reading, spent: left, ...(children === undefined ? {} : { children }) }, ...body);
      return true;
    }
    case 'usage': {
      const { readUsage } = await loadCommands();
      send({ kind: 'done', result: await readUsage(request.pids, request.pauseMs) });
      return true;
    }
    case 'ask-shims': {
      const { askShims } = await import('./sockets.ts');
      await askShims(request.questions, request.untilMs, (index, calls) =>
        send({ kind: 'items', results: [{ index, calls }] }),
      );
      send({ kind: 'done' });
      return true;
    }
    case 'mark-signal':
      send({ kind: 'done', result: markSignal(request.mark) });
      return true;
    case 'ask-cri': {
      const { askCri } = await import('./cri.ts');
      await askCri(request.socket, request.questions, request.untilMs, (index, call) =>
        send({ kind: 'items', results: [{ index, call }] }),
      );
      send({ kind: 'done' });
      return true;
    }
    case 'ask-http': {
      const { getAll } = await import('./sockets.ts');
      await getAll(request.socket, request.paths, request.untilMs, (index, call, body) =>
        send({ kind: 'items', results: [{ index, call }] }, body),
      );
      send({ kind: 'done' });
      return true;
    }
    case 'drain':
      await drain(request.pid, request.fd, request.decoy);
      return false;
    case 'finish':
      // The drain that it was meant for ended before it came.
      return true;
  }
}

/** Only when they are wanted: execa takes longer to load than most requests to answer. */
async function loadCommands() {
  const commands = await import('./commands.ts');
  waitInReads();
  return commands;
}

const EMPTY = Buffer.alloc(0);

function answerItems<T>(
  items: readonly { readonly index: number; readonly item: T }[],
  read: (item: T, batch: Batch) => readonly [result: unknown, body: Buffer],
): true {
  const batch = new Batch();
  for (const { index, item } of items) {
    batch.begin(index);
    batch.add(...read(item, batch));
  }
  batch.flush();
  send({ kind: 'done' });
  return true;
}
