import type { Manifest } from '../bundle/manifest.ts';
import { diagnose } from '../diagnosis/diagnose.ts';
import { gather } from '../diagnosis/read-facts.ts';
import { type Report, reportOf } from '../report/report.ts';

/** Judges a capture while it is written, by the same facts that `stallcap report` reads out of the bundle later. */
export interface Judging {
  /** Every entry as it stands in the bundle. Never throws. */
  take(path: string, body: Buffer): void;
  /** @param manifest as far as it is known before the summary is written. Null when judging itself failed: no reason to lose a capture. */
  report(manifest: Manifest): Report | null;
}

const PIECE_BYTES = 64 << 10;

export function judging(): Judging {
  const gathering = gather();
  let failed = false;
  const offer = (path: string, body: Buffer): void => {
    if (failed) return;
    try {
      const sink = gathering.open(path);
      // In pieces, each of which becomes a text: of a log, that would be 16 MiB or twice as much.
      for (let at = 0; at < body.length; at += PIECE_BYTES) sink?.write(body.subarray(at, at + PIECE_BYTES));
      sink?.end();
    } catch {
      failed = true;
    }
  };
  return {
    take: offer,
    report(manifest) {
      offer('manifest.json', Buffer.from(JSON.stringify(manifest)));
      if (failed) return null;
      try {
        const facts = gathering.facts({ cut: false });
        return reportOf(facts, diagnose(facts));
      } catch {
        return null;
      }
    },
  };
}
