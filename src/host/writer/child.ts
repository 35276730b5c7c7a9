import { receiveFrame, sendFrame } from '../blocking-pipe.ts';
import { volunteerForOom } from '../expendable.ts';
import { errnoOf } from '../outcome.ts';
import { type Order, RECEIPTS_FD, type Receipt } from './protocol.ts';
import { openSink, type Sink } from './sink.ts';
import { removeSuperseded } from './superseded.ts';

const STDIN = 0;

/**
 * The life of a writer: one place, and receipts for what it took. Whatever hangs, hangs here, and the parent goes to
 * another writer with the same bytes. When the parent is gone, what came stays as `.partial`: readable up to the cut.
 * Resolves to the exit code.
 */
export async function serveWriter(): Promise<number> {
  volunteerForOom();
  let sink: Sink | null = null;
  try {
    let bytes = 0;
    for (;;) {
      const order = receiveFrame<Order>(STDIN);
      if (order === null) return 0;
      const { header, body } = order;
      if (header.op === 'open') {
        sink = openSink(header.place);
        tell({ kind: 'opened', ...(sink.file === null ? {} : { file: sink.file }) });
      } else if (header.op === 'data') {
        sink?.write(body, written => {
          bytes += written;
          tell({ kind: 'wrote', bytes });
        });
      } else if (header.op === 'sync') {
        sink?.sync();
        tell({ kind: 'synced' });
      } else if (header.op === 'name') {
        tell({ kind: 'sealed', path: sink?.name() ?? null });
        return 0;
      } else {
        removeSuperseded(header.superseded);
        return 0;
      }
    }
  } catch (error) {
    discard(sink);
    tell({ kind: 'failed', errno: errnoOf(error) });
    return 1;
  }
}

function tell(receipt: Receipt): void {
  sendFrame(RECEIPTS_FD, receipt);
}

/** A full disk gets its room back. What cannot be removed stays: it is named `.partial`. */
function discard(sink: Sink | null): void {
  try {
    sink?.discard();
  } catch {
    // The reason for failing is the first error, and it is on its way.
  }
}
