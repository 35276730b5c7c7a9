/** Flags as Go's flag package, urfave/cli (containerd) and pflag (dockerd) read them, as far as daemons use them. */
export interface Flags {
  /** Last value of each flag, by its name without dashes; 'true' for a flag without a value. */
  readonly values: ReadonlyMap<string, string>;
  /** Everything from the first argument that is neither a flag nor its value. */
  readonly positional: readonly string[];
}

/**
 * `args` without the program's name. `-name value`, `-name=value` and the same with two dashes. A flag of `booleans`
 * takes no value; any other takes the next argument, unless that is a flag itself.
 */
export function readFlags(args: readonly string[], booleans: ReadonlySet<string>): Flags {
  const values = new Map<string, string>();
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') return { values, positional: args.slice(at + 1) };
    const match = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg);
    if (match === null) break;
    const name = match[1] ?? '';
    const next = args[at + 1];
    if (match[2] !== undefined) {
      values.set(name, match[2]);
    } else if (booleans.has(name) || next === undefined || next.startsWith('-')) {
      values.set(name, 'true');
    } else {
      values.set(name, next);
      at += 1;
    }
  }
  return { values, positional: args.slice(at) };
}

/** /proc/<pid>/cmdline: arguments ended by NUL each. Empty for a kernel thread and a zombie. */
export function splitCmdline(bytes: Buffer): readonly string[] {
  const text = bytes.toString('utf8');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}
