import { describe, expect, it } from 'vitest';
import { parseBundlePath } from '../../../src/formats/runtime/bundle-path.ts';
import { stateText } from './fixture.ts';

describe('a bundle directory, as a shim has it for working directory', () => {
  it('names state directory, namespace and id', () => {
    const cwd = stateText('2.3.4/proc-shim/cwd').trim();
    expect(parseBundlePath(cwd)).toEqual({
      state: '/var/lab/state',
      generation: 'v2',
      namespace: 'k8s.io',
      id: '1b317bcd77f345a8816317abfd38ca881de33aeafa1a53e09af2d3501b65e94f',
      dir: cwd,
      deleted: false,
    });
  });

  it('tells a v1 shim', () => {
    expect(parseBundlePath('/run/containerd/io.containerd.runtime.v1.linux/moby/abc')).toMatchObject({
      state: '/run/containerd',
      generation: 'v1',
      namespace: 'moby',
      id: 'abc',
    });
  });

  it('that was deleted keeps its id without the dot', () => {
    expect(parseBundlePath('/run/c/io.containerd.runtime.v2.task/k8s.io/.abc (deleted)')).toEqual({
      state: '/run/c',
      generation: 'v2',
      namespace: 'k8s.io',
      id: 'abc',
      dir: '/run/c/io.containerd.runtime.v2.task/k8s.io/.abc',
      deleted: true,
    });
  });

  it('that was renamed and hangs in its removal counts as deleted', () => {
    expect(parseBundlePath('/run/c/io.containerd.runtime.v2.task/k8s.io/.abc')).toMatchObject({
      id: 'abc',
      deleted: true,
    });
  });

  it.each(['/', '/run/containerd', '/run/c/io.containerd.runtime.v2.task/k8s.io', ''])('is not %j', path => {
    expect(parseBundlePath(path)).toBeNull();
  });
});
