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

export function judging(): Judging {
  const gathering = gather();
  let failed = false;
  const offer = (path: string, body: Buffer): void => {
    if (failed) return;
    try {
      const sink = gathering.open(path);
      sink?.write(body);
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
