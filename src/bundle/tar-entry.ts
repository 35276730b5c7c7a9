import { pack } from 'tar-stream';

export interface TarFile {
  /** With the folder: 'stallcap-n1-web-0-20260101T120000Z/plan.json'. */
  readonly name: string;
  readonly body: Buffer;
  /** Hex; stands in the PAX record `comment`, the one keyword that GNU tar ignores without a warning. */
  readonly sha256: string;
  readonly modified: Date;
}

/** End of the archive: two blocks of zeros. */
export const END_OF_TAR = Buffer.alloc(1024);

/** The blocks of one file of the tar: extended header, header, body, padding. The body is not copied. */
export async function tarEntry(file: TarFile): Promise<readonly Buffer[]> {
  const tar = pack();
  const { name, body, sha256, modified } = file;
  tar.entry({ name, size: body.length, mode: 0o600, mtime: modified, pax: { comment: sha256 } }, body);
  tar.finalize();
  const blocks: Buffer[] = [];
  for await (const block of tar as AsyncIterable<Buffer>) blocks.push(block);
  // finalize() closes each single entry as if it were the whole archive.
  blocks.pop();
  return blocks;
}
