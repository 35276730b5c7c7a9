/** A socket that somebody listens at, of /proc/<pid>/net/unix: all of that process's network namespace. */
export interface ListeningSocket {
  /** As in `socket:[<inode>]`, the link of a descriptor. */
  readonly inode: string;
  /** As it was bound; an abstract name has `@` for the NUL in front. */
  readonly path: string;
}

/** `Num: RefCount Protocol Flags Type St Inode Path`, unix_seq_show in net/unix/af_unix.c; __SO_ACCEPTCON is flag 0x10000. */
const ROW = /^[0-9a-f]+: \S+ \S+ 00010000 \S+ \S+ +(\d+) (.+)$/i;

export function parseListening(text: string): readonly ListeningSocket[] {
  return text.split('\n').flatMap(line => {
    const [, inode, path] = ROW.exec(line) ?? [];
    return inode === undefined || path === undefined ? [] : [{ inode, path }];
  });
}
