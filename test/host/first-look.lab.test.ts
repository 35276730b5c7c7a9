import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { takeFirstLook } from '../../src/host/first-look.ts';
import { startContainerd } from '../lab/containerd.ts';
import { end } from '../lab/processes.ts';
import { labUnavailable } from '../lab/requirements.ts';

describe.skipIf(labUnavailable())('the first look', () => {
  it('is at the shims that the arguments mean, else at all', async () => {
    await using containerd = await startContainerd();
    const [one, two] = [
      await containerd.runPod({ name: 'web-0', namespace: 'shop' }),
      await containerd.runPod({ name: 'web-1', namespace: 'shop' }),
    ];
    const container = await one.addContainer({ name: 'app', command: ['sleep', '1000'] });
    const pidsFor = (...args: string[]) => {
      const { matchedBy, shims } = takeFirstLook(args);
      return matchedBy === 'id' ? shims.map(({ pid }) => pid) : matchedBy;
    };

    expect(pidsFor(one.id)).toEqual([one.shimPid]);
    expect(pidsFor('--timeout', '30s', two.id, '-o', 'x/')).toEqual([two.shimPid]);
    expect(pidsFor(one.id.slice(0, 12))).toEqual([one.shimPid]);
    expect(pidsFor(one.id, two.id).toString()).toBe([one.shimPid, two.shimPid].sort((a, b) => a - b).toString());
    expect(pidsFor(`pid:${two.shimPid}`)).toEqual([two.shimPid]);
    const threads = readdirSync(`/proc/${two.shimPid}/task`).map(Number);
    expect(pidsFor(`pid:${Math.max(...threads)}`)).toEqual([two.shimPid]);
    expect(pidsFor(`pid:${container.initPid}`)).toEqual([one.shimPid]);
    expect(pidsFor(one.id.slice(0, 3))).toBe('all');
    expect(pidsFor(container.id)).toBe('all');
    expect(pidsFor('pid:1')).toBe('all');
    expect(pidsFor()).toBe('all');

    const { shims, firstStackMs, detail } = takeFirstLook([one.id]);
    expect(detail).toBeUndefined();
    expect(firstStackMs).toBeGreaterThan(0);
    const [look] = shims;
    expect(look).toMatchObject({
      comm: 'containerd-shim',
      outcome: 'ok',
      cwd: expect.stringContaining(`/k8s.io/${one.id}`),
    });
    expect(look?.threads.length).toBeGreaterThan(4);
    expect(look?.threads.every(({ stack, errors }) => stack !== null && Object.keys(errors).length === 0)).toBe(true);

    const all = takeFirstLook([]).shims.map(({ pid }) => pid);
    expect(all).toEqual(expect.arrayContaining([one.shimPid, two.shimPid]));
    await end(two.shimPid);
    expect(takeFirstLook([]).shims.map(({ pid }) => pid)).not.toContain(two.shimPid);
  });

  it('is of no use without a shim, and says nothing then', () => {
    const { matchedBy, shims, firstStackMs } = takeFirstLook(['0123456789abcdef']);
    expect(matchedBy).toBe('all');
    if (shims.length === 0) expect(firstStackMs).toBeNull();
  });
});
