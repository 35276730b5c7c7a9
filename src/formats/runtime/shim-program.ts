/** `containerd-shim-runc-v2`, `-runc-v1`, and v1's `containerd-shim`. */
const RUNC_SHIM = /^(docker-)?containerd-shim(-runc-v\d+)?$/;

/** What may be known of a shim's program: the target of /proc/<pid>/exe, and its command line. */
interface Started {
  readonly exe: string | null;
  readonly argv: readonly string[] | null;
}

/** Name of the shim's program, whatever its comm was cut to; null where neither link nor command line could be read. */
export function shimProgram({ exe, argv }: Started): string | null {
  const path = (exe ?? argv?.[0])?.replace(/ \(deleted\)$/, '');
  return path?.split('/').at(-1) ?? null;
}

/**
 * Whether it is one of runc's: those have their containers' processes below them, and runc's records. Others (kata, gVisor,
 * wasm) may have their processes elsewhere, and know nothing of runc. Null when its program is not known.
 */
export function isRuncShim(shim: Started): boolean | null {
  const program = shimProgram(shim);
  return program === null ? null : RUNC_SHIM.test(program);
}
