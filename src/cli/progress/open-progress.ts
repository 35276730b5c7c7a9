import { type Progress, SILENT } from '../../capture/progress.ts';
import { liveProgress } from './live.ts';
import { plainProgress } from './plain.ts';

/** Progress on stderr: live on a terminal, else one plain line per phase, nothing with --quiet. */
export function openProgress({ quiet }: { readonly quiet: boolean }): Progress {
  if (quiet) return SILENT;
  const live = process.stderr.isTTY && process.env['TERM'] !== 'dumb';
  return live ? liveProgress(process.stderr) : plainProgress(process.stderr);
}
