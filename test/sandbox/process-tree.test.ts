import { describe, expect, it } from 'vitest';
import type { FileResult } from '../../src/host/port.ts';
import { readProcessTree } from '../../src/sandbox/process-tree.ts';

/** pid to parent. */
function treeOf(parents: ReadonlyMap<number, number>) {
  const file: FileResult = { path: '', outcome: 'ok', body: Buffer.alloc(0), offsetMs: 0, durationMs: 0 };
  return readProcessTree({
    pids: () => [...parents.keys()],
    read(path) {
      const pid = Number(path.split('/')[2]);
      return {
        ...file,
        body: Buffer.from(`Name:\tsleep\nState:\tS (sleeping)\nPid:\t${pid}\nPPid:\t${parents.get(pid)}\n`),
      };
    },
  });
}

describe('the tree of processes', () => {
  it('gives all below a process, parents before their children', () => {
    const tree = treeOf(
      new Map([
        [9, 1],
        [5, 9],
        [7, 5],
        [6, 9],
        [8, 6],
        [3, 1],
      ]),
    );
    expect(tree.descendantsOf(9).map(({ pid }) => pid)).toEqual([5, 6, 7, 8]);
  });

  it('ends where parents changed under our feet', () => {
    expect(
      treeOf(
        new Map([
          [5, 6],
          [6, 5],
        ]),
      )
        .descendantsOf(5)
        .map(({ pid }) => pid),
    ).toEqual([6]);
  });

  it('holds a process with two hundred thousand children', () => {
    const parents = new Map(Array.from({ length: 200_000 }, (_, index) => [index + 100, 50] as const));
    expect(treeOf(parents).descendantsOf(50)).toHaveLength(200_000);
  });
});
