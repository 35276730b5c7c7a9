import { EXIT } from '../errors.ts';
import { VERSION } from '../version.ts';
import type { Answer } from './answer.ts';

/** What `stallcap version` and `stallcap --version` say. */
export function versionAnswer(): Answer {
  const { arch, platform, version: node } = process;
  return {
    exit: EXIT.complete,
    text: `stallcap ${VERSION} (node ${node}, ${platform}-${arch})\n`,
    json: { version: VERSION, node, platform, arch },
  };
}
