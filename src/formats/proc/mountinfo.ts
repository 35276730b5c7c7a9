/** /proc/<pid>/mountinfo: proc_pid_mountinfo(5), kernel fs/proc_namespace.c show_mountinfo. */
export interface Mount {
  readonly id: number;
  readonly parentId: number;
  /** `254:0`, as in diskstats and the device links; anonymous (0:n) for overlay, nfs, fuse, tmpfs, btrfs. */
  readonly device: string;
  /** The directory of the filesystem that forms the root of this mount. */
  readonly root: string;
  readonly mountPoint: string;
  readonly options: readonly string[];
  /** `shared:1`, `master:2`, `propagate_from:3`, `unbindable`, and tags to come. */
  readonly tags: readonly string[];
  /** `ext4`, `overlay`, `fuse.bindfs`. */
  readonly type: string;
  readonly source: string;
  /** Options of the superblock, escapes still in place. */
  readonly superOptions: readonly string[];
}

/** Directories of an overlay mount, outermost lower first. Null in `upper` and `work` for a read-only overlay. */
export interface OverlayDirs {
  readonly lower: readonly string[];
  readonly upper: string | null;
  readonly work: string | null;
  /** Since 5.10: umount and sync then skip the upper filesystem. */
  readonly volatile: boolean;
}

/** `\040` is a blank: the kernel escapes white space, `\`, `#`, and inside of options also `,` and `=`. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-3][0-7]{2})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function parseLine(line: string): Mount | null {
  const words = line.split(' ');
  const separator = words.indexOf('-', 6);
  const [id = '', parentId = '', device = '', root = '', mountPoint = '', options = ''] = words;
  const [type, source = '', superOptions = ''] = words.slice(separator + 1);
  if (separator < 0 || type === undefined || !/^\d+$/.test(id) || !/^\d+$/.test(parentId)) return null;
  return {
    id: Number(id),
    parentId: Number(parentId),
    device,
    root: unescapeOctal(root),
    mountPoint: unescapeOctal(mountPoint),
    options: options.split(','),
    tags: words.slice(6, separator),
    type: unescapeOctal(type),
    source: unescapeOctal(source),
    superOptions: superOptions.split(','),
  };
}

/** In the kernel's order: a later mount hides an earlier one at the same place. Lines that are none are left out. */
export function parseMountinfo(text: string): readonly Mount[] {
  return text
    .split('\n')
    .map(parseLine)
    .filter(mount => mount !== null);
}

/** `a:b\:c` -> `a`, `b:c`. */
function splitLower(value: string): readonly string[] {
  return (value.match(/(?:\\.|[^:\\])+|\\$/g) ?? []).map(dir => dir.replace(/\\(.)/g, '$1'));
}

/**
 * The directories of an overlay mount, as its options give them; null for any other type. Paths may be relative
 * (`12/fs:11/fs`): containerd mounts from its snapshots directory when the option would exceed a page.
 */
export function overlayDirs(mount: Mount): OverlayDirs | null {
  if (mount.type !== 'overlay') return null;
  const lower: string[] = [];
  let upper: string | null = null;
  let work: string | null = null;
  for (const option of mount.superOptions) {
    const equals = option.indexOf('=');
    const value = unescapeOctal(option.slice(equals + 1));
    // Since 6.8 each layer may stand in an option of its own, in which a colon is a colon.
    switch (option.slice(0, Math.max(0, equals))) {
      case 'lowerdir':
        lower.push(...splitLower(value));
        break;
      case 'lowerdir+':
      case 'datadir+':
        lower.push(value);
        break;
      case 'upperdir':
        upper = value;
        break;
      case 'workdir':
        work = value;
    }
  }
  return { lower, upper, work, volatile: mount.superOptions.includes('volatile') };
}
