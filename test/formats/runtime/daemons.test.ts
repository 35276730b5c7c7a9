import { describe, expect, it } from 'vitest';
import { parseContainerdConfig } from '../../../src/formats/runtime/containerd-config.ts';
import { parseContainerdArgv, parseDockerdArgv } from '../../../src/formats/runtime/daemon-argv.ts';
import { parseDockerDaemonConfig } from '../../../src/formats/runtime/docker-daemon-config.ts';
import { stateText } from './fixture.ts';

const words = (line: string) => line.split(' ');

describe('the command line of a containerd', () => {
  it('of k0s says everything by flags', () => {
    const line =
      '/var/lib/k0s/bin/containerd --root=/var/lib/k0s/containerd --state=/run/k0s/containerd --address=/run/k0s/containerd.sock --log-level=info --config=/etc/k0s/containerd.toml';
    expect(parseContainerdArgv(words(line))).toEqual({
      daemon: true,
      config: '/etc/k0s/containerd.toml',
      root: '/var/lib/k0s/containerd',
      state: '/run/k0s/containerd',
      address: '/run/k0s/containerd.sock',
    });
  });

  it('of k3s mixes short and long ones', () => {
    const line =
      'containerd -c /var/lib/rancher/k3s/agent/etc/containerd/config.toml -a /run/k3s/containerd/containerd.sock --state /run/k3s/containerd --root /var/lib/rancher/k3s/agent/containerd';
    expect(parseContainerdArgv(words(line))).toMatchObject({
      daemon: true,
      config: '/var/lib/rancher/k3s/agent/etc/containerd/config.toml',
      address: '/run/k3s/containerd/containerd.sock',
      root: '/var/lib/rancher/k3s/agent/containerd',
    });
  });

  it.each(['containerd config dump', 'containerd --address /a.sock publish --topic /tasks/exit'])(
    'is no daemon: %s',
    line => {
      expect(parseContainerdArgv(words(line)).daemon).toBe(false);
    },
  );
});

describe('where docker keeps its things', () => {
  it('is said by flags', () => {
    const line = 'dockerd --debug --data-root /data -H unix:///run/d.sock --iptables=false --exec-root=/exec -p /pid';
    expect(parseDockerdArgv(words(line))).toEqual({
      configFile: null,
      dataRoot: '/data',
      execRoot: '/exec',
      host: 'unix:///run/d.sock',
    });
  });

  it('is said by daemon.json', () => {
    expect(parseDockerDaemonConfig('{"data-root":"/data","hosts":["fd://","tcp://0.0.0.0:1"]}')).toEqual({
      dataRoot: '/data',
      execRoot: null,
      host: 'fd://',
    });
    expect(parseDockerDaemonConfig('no')).toBeNull();
  });
});

describe('config.toml of containerd', () => {
  it('as dockerd writes it', () => {
    expect(parseContainerdConfig(stateText('moby/containerd.toml'))).toEqual({
      root: '/var/lib/docker/containerd/daemon',
      state: '/var/run/docker/containerd/daemon',
      address: '/var/run/docker/containerd/containerd.sock',
      imports: [],
    });
  });

  it('has the address in a plugin since version 4', () => {
    const text =
      "version = 4\nroot = '/r'\n[plugins.'io.containerd.server.v1.grpc']\n  address = '/run/a.sock' # ours\n  uid = 0\n";
    expect(parseContainerdConfig(text)).toMatchObject({ root: '/r', address: '/run/a.sock' });
  });

  it('is not misled by keys of the same name in other tables and in strings', () => {
    const text = `
      imports = [ # several lines
        "/etc/containerd/conf.d/*.toml", 'other.toml',
      ]
      note = """
root = "/wrong"
[grpc]
address = "/wrong.sock" """
      [debug]
        address = "/debug.sock"
        root = "/debug"
      [[proxy_plugins]]
      root = "/proxy"
      [ttrpc]
      address = ""
    `;
    expect(parseContainerdConfig(text)).toEqual({
      root: null,
      state: null,
      address: null,
      imports: ['/etc/containerd/conf.d/*.toml', 'other.toml'],
    });
  });

  it('knows dotted keys, inline tables and escapes', () => {
    const text = 'grpc.uid = 0\ngrpc = { address = "/run/\\u0061\\tb.sock", gid = 1 }\n"root" = "/r"\nstate=\'/s\\n\'';
    expect(parseContainerdConfig(text)).toEqual({ root: '/r', state: '/s\\n', address: '/run/a\tb.sock', imports: [] });
  });

  it('says what stands before a fault', () => {
    expect(parseContainerdConfig('root = "/r"\nstate = "/s\n')).toMatchObject({ root: '/r', state: null });
    expect(parseContainerdConfig(`root = "/r"\nx = ${'['.repeat(5000)}`)).toMatchObject({ root: '/r' });
    expect(parseContainerdConfig('\0\x01')).toEqual({ root: null, state: null, address: null, imports: [] });
  });
});
