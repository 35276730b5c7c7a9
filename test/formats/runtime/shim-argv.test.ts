import { describe, expect, it } from 'vitest';
import { splitCmdline } from '../../../src/formats/runtime/flags.ts';
import { parseShimArgv } from '../../../src/formats/runtime/shim-argv.ts';
import { stateBytes } from './fixture.ts';

const ID = '50c511338bc211a61bd248546818ddf63927f9907e911f557822516309a11b0c';
const argv = (line: string) => parseShimArgv(line.split(' '));

describe('the command line of a shim', () => {
  it('is a server without a positional argument', () => {
    expect(parseShimArgv(splitCmdline(stateBytes('1.6.20/proc-shim/cmdline')))).toEqual({
      action: 'server',
      namespace: 'k8s.io',
      id: ID,
      address: '/var/lab/containerd.sock',
      bundle: null,
      workdir: null,
      runtimeRoot: null,
    });
  });

  it.each([
    [
      'kata',
      '/opt/kata/bin/containerd-shim-kata-v2 -namespace k8s.io -address /a.sock -publish-binary /usr/bin/containerd -id x -debug',
    ],
    ['gVisor', '/usr/bin/containerd-shim-runsc-v1 -namespace k8s.io -address /a.sock -id x'],
    [
      'a Rust shim',
      '/usr/bin/containerd-shim-wasmtime-v1 -namespace k8s.io -id x -address /a.sock -socket unix:///run/s/1',
    ],
    ['runc-v2 in debug', '/usr/bin/containerd-shim-runc-v2 -namespace k8s.io -id x -address /a.sock -debug'],
    ['equals signs', 'containerd-shim-runc-v2 --namespace=k8s.io -id=x --address=/a.sock'],
  ])('is read alike for %s', (_, line) => {
    expect(argv(line)).toMatchObject({ action: 'server', namespace: 'k8s.io', id: 'x', address: '/a.sock' });
  });

  it('of containerd 1.2 has no id', () => {
    const line =
      '/usr/bin/containerd-shim-runc-v1 -namespace k8s.io -address /a.sock -publish-binary /usr/bin/containerd';
    expect(argv(line)).toMatchObject({ action: 'server', id: null });
  });

  it('of v1 names its work directory and where runc keeps its state', () => {
    const line =
      'containerd-shim -namespace moby -workdir /var/lib/c/io.containerd.runtime.v1.linux/moby/x -address /a.sock ' +
      '-containerd-binary /usr/bin/containerd -runtime-root /var/run/docker/runtime-runc -systemd-cgroup -debug';
    expect(argv(line)).toMatchObject({
      action: 'server',
      workdir: '/var/lib/c/io.containerd.runtime.v1.linux/moby/x',
      runtimeRoot: '/var/run/docker/runtime-runc',
    });
  });

  it.each([
    ['start', '-namespace k8s.io -address /a.sock -publish-binary /usr/bin/containerd -id x start', 'start'],
    ['start in debug', '-namespace k8s.io -address /a.sock -publish-binary /c -id x -debug start', 'start'],
    ['delete', '-namespace k8s.io -address /a.sock -publish-binary /c -id x -bundle /run/b delete', 'delete'],
    ['an action to come', '-namespace k8s.io -id x freeze', 'other'],
    ['-info', '-info', 'other'],
    ['-v', '-v', 'other'],
  ])('of the helper for %s is no server', (_, args, action) => {
    expect(argv(`/usr/bin/containerd-shim-runc-v2 ${args}`).action).toBe(action);
  });

  it('is not fooled by an id that is called like an action', () => {
    expect(argv('containerd-shim-runc-v2 -namespace default -id delete -address /a.sock')).toMatchObject({
      action: 'server',
      id: 'delete',
    });
  });

  it('may be empty, as that of a zombie is', () => {
    expect(splitCmdline(Buffer.alloc(0))).toEqual([]);
    expect(parseShimArgv([])).toMatchObject({ action: 'server', id: null });
  });
});
