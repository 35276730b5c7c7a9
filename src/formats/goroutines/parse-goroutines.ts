import { isIndented, type Position, positionOf, unflatten } from './flattened.ts';
import type { CreatedBy, GoFrame, Goroutine } from './goroutine.ts';

/** `goroutine 50 [running]:`, `goroutine 1 gp=0xc0000061c0 m=nil [select, 5 minutes]:`, `goroutine 7 [runnable (scan), locked to thread]:`; Go 1.26 may add labels, `{"k": "v"}`. */
const HEADING = /^goroutine (\d{1,20})(?: [^[\]]{0,200})? ?\[([^\]]{0,200})\](?: \{.*\})?:?$/;
const CREATED_BY = /^created by (\S+)(?: in goroutine (\d+))?$/;
const ELIDED = /^\.\.\.(?:\d+|additional) frames elided\.\.\.$/;

interface Draft {
  readonly id: number;
  readonly state: string;
  readonly minutes: number | null;
  readonly lockedToThread: boolean;
  readonly lineNumber: number;
  readonly frames: { function: string; args: string; position: Position | null }[];
  createdBy: { function: string; goroutine: number | null; position: Position | null } | null;
  elided: boolean;
  readonly unknown: string[];
  /** A function line with its position still to come. */
  open: { position: Position | null } | null;
}

function draftOf(line: string, lineNumber: number): Draft | null {
  const [, id, bracket = ''] = HEADING.exec(line) ?? [];
  if (id === undefined) return null;
  const [state = '', ...rest] = bracket.split(', ');
  const minutes = rest.map(part => /^(\d+) minutes$/.exec(part)?.[1]).find(digits => digits !== undefined);
  return {
    id: Number(id),
    state,
    minutes: minutes === undefined ? null : Number(minutes),
    lockedToThread: rest.includes('locked to thread'),
    lineNumber,
    frames: [],
    createdBy: null,
    elided: false,
    unknown: [],
    open: null,
  };
}

/** `pkg.(*T).method(0x1, {0x2, 0x3})`: the arguments start at the last parenthesis, for none can be among them. */
function callOf(line: string): { function: string; args: string } | null {
  const open = line.lastIndexOf('(');
  if (open <= 0 || !line.endsWith(')')) return null;
  const name = line.slice(0, open);
  return /\s/.test(name) ? null : { function: name, args: line.slice(open + 1, -1) };
}

function addLine(draft: Draft, line: string): void {
  const trimmed = line.trim();
  const created = CREATED_BY.exec(trimmed);
  if (created !== null && draft.createdBy === null) {
    const goroutine = created[2] === undefined ? null : Number(created[2]);
    draft.createdBy = { function: created[1] ?? '', goroutine, position: null };
    draft.open = draft.createdBy;
    return;
  }
  if (isIndented(line)) {
    const position = positionOf(line);
    if (position !== null && draft.open !== null && draft.open.position === null) {
      draft.open.position = position;
      return;
    }
  }
  if (ELIDED.test(trimmed)) {
    draft.elided = true;
    return;
  }
  const call = callOf(trimmed);
  // Nothing comes after `created by`: what does belongs to another goroutine, whose beginning got lost.
  if (call === null || draft.createdBy !== null) {
    draft.unknown.push(line);
    return;
  }
  const frame = { ...call, position: null };
  draft.frames.push(frame);
  draft.open = frame;
}

const withPosition = <T extends { position: Position | null }>({ position, ...rest }: T) => ({
  ...rest,
  file: position?.file ?? null,
  line: position?.line ?? null,
});

function finished({ open: _, frames, createdBy, ...rest }: Draft): Goroutine {
  return {
    ...rest,
    frames: frames.map((frame): GoFrame => withPosition(frame)),
    createdBy: createdBy === null ? null : (withPosition(createdBy) satisfies CreatedBy),
  };
}

export interface GoroutineText {
  readonly goroutines: readonly Goroutine[];
  /** What stands before, between and after the goroutines, blank lines left out (`SIGQUIT: quit`, registers, markers). */
  readonly unknown: readonly string[];
}

/**
 * Goroutines of a dump with real line ends, in any form the field has: runtime.Stack, a crash or SIGQUIT (`gp=… m=…`, `fp=… sp=…`),
 * flattened lines, blanks or arrows for tabs. Never throws; a dump cut anywhere gives what stands before the cut.
 */
export function parseGoroutines(text: string): GoroutineText {
  const goroutines: Goroutine[] = [];
  const unknown: string[] = [];
  let draft: Draft | null = null;
  for (const [index, raw] of text.split('\n').entries()) {
    const rawLine = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (rawLine.trim() === '') {
      // A blank line ends a goroutine. Registers and markers that follow belong to none.
      if (draft !== null) goroutines.push(finished(draft));
      draft = null;
      continue;
    }
    for (const line of unflatten(rawLine)) {
      const begun = draftOf(line.trim(), index + 1);
      if (begun !== null) {
        if (draft !== null) goroutines.push(finished(draft));
        draft = begun;
      } else if (draft === null || /^=== (?:BEGIN|END) goroutine stack dump ===$/.test(line.trim())) {
        unknown.push(line.trim());
      } else {
        addLine(draft, line);
      }
    }
  }
  if (draft !== null) goroutines.push(finished(draft));
  return { goroutines, unknown };
}
