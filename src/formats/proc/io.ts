/** /proc/<pid>/io: proc_pid_io(5). Bytes and counts since the process began, its ended threads included. */
export interface ProcessIo {
  /** Through read(2) and its kin, from wherever: files, pipes, the page cache. */
  readonly readCharacters: number;
  readonly writtenCharacters: number;
  readonly readCalls: number;
  readonly writeCalls: number;
  /** Fetched from a block device. */
  readonly readBytes: number;
  /** Made dirty in the page cache, to be written later. */
  readonly writtenBytes: number;
  /** Of those, cut off or deleted before they were written. */
  readonly cancelledBytes: number;
}

/** Null where one of the seven values is missing: the file was denied or cut. */
export function parseIo(text: string): ProcessIo | null {
  const values = new Map([...text.matchAll(/^(\w+): (\d+)$/gm)].map(([, key, digits]) => [key, Number(digits)]));
  const keys = ['rchar', 'wchar', 'syscr', 'syscw', 'read_bytes', 'write_bytes', 'cancelled_write_bytes'];
  if (!keys.every(key => values.has(key))) return null;
  const value = (key: string) => values.get(key) ?? 0;
  return {
    readCharacters: value('rchar'),
    writtenCharacters: value('wchar'),
    readCalls: value('syscr'),
    writeCalls: value('syscw'),
    readBytes: value('read_bytes'),
    writtenBytes: value('write_bytes'),
    cancelledBytes: value('cancelled_write_bytes'),
  };
}
