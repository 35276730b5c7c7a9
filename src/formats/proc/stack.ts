/**
 * Kernel stacks: /proc/<pid>/stack (kernel fs/proc/base.c proc_pid_stack) and the call traces of the kernel log
 * (arch/x86/kernel/dumpstack.c and its like, lib/vsprintf.c for `symbol+offset/size [module]`).
 */
export interface KernelFrame {
  /** Without what the compiler appends (`.isra.0`, `.constprop.0`, `.cold`); null for a line that names none. */
  readonly symbol: string | null;
  readonly offset: number | null;
  readonly size: number | null;
  readonly module: string | null;
  /** The line without white space around it. */
  readonly text: string;
}

/** `symbol+0x29/0x70`, then ` [module]` or ` [module buildid]`; a source position may follow. No word holds a blank: linear. */
const NAMED = /^([^\s+]+)\+0x([0-9a-f]+)\/0x([0-9a-f]+)(?: \[([^\s\]]+)(?:\s[^\]]*)?\])?/;

/** `[<0>] `, `[<ffffffff81120f1f>] `, `[] ` (stripped by a paste), `[c000000629343540] ` twice (ppc64). */
const ADDRESS = /^\[(?:<?(?:0x)?[0-9a-f]*>?)\] ?/;

/** The end mark of kernels before 5.x: `[<ffffffffffffffff>] 0xffffffffffffffff`. */
const END = /^0xf{8,16}$/;

/** The symbol as the source spells it: `do_poll` for `do_poll.constprop.0`. */
function withoutSuffix(symbol: string): string {
  const dot = symbol.indexOf('.', 1);
  return dot < 0 ? symbol : symbol.slice(0, dot);
}

/** One line of a stack, address and all. Null for a blank line and for the end mark. */
export function parseFrame(line: string): KernelFrame | null {
  const text = line.trim();
  let rest = text;
  for (let address = ADDRESS.exec(rest); address !== null; address = ADDRESS.exec(rest)) {
    rest = rest.slice(address[0].length).trimStart();
  }
  if (rest === '' || END.test(rest)) return null;
  const named = NAMED.exec(rest);
  if (named === null) return { symbol: null, offset: null, size: null, module: null, text };
  const [, symbol = '', offset = '', size = '', module] = named;
  return {
    symbol: withoutSuffix(symbol),
    offset: Number.parseInt(offset, 16),
    size: Number.parseInt(size, 16),
    module: module ?? null,
    text,
  };
}

/** Where every sleeper has left its CPU: on top of each stack on arm64 (before 5.17) and ppc64, left out by the kernel elsewhere. */
const SWITCH = '__switch_to';

/**
 * All forms of /proc/<pid>/stack, innermost frame first: what the task sleeps in. A line in no known form is kept as a frame
 * without symbol.
 */
export function parseStack(text: string): readonly KernelFrame[] {
  const frames = text
    .split('\n')
    .map(parseFrame)
    .filter(frame => frame !== null);
  return frames[0]?.symbol === SWITCH ? frames.slice(1) : frames;
}
