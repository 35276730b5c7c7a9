import { describe, expect, it } from 'vitest';
import { parseCriAnnotations } from '../../../src/formats/runtime/cri-annotations.ts';
import { parseOciConfig } from '../../../src/formats/runtime/oci-config.ts';
import { parseAddress, parseBootstrap } from '../../../src/formats/runtime/shim-socket.ts';
import { stateText } from './fixture.ts';

const annotationsOf = (name: string) => parseCriAnnotations(parseOciConfig(stateText(name))?.annotations ?? new Map());

describe('config.json of a bundle', () => {
  it('of a sandbox says which pod it is', () => {
    expect(annotationsOf('1.6.20/bundle-sandbox/config.json')).toMatchObject({
      type: 'sandbox',
      sandboxId: '50c511338bc211a61bd248546818ddf63927f9907e911f557822516309a11b0c',
      pod: { name: 'podi16', namespace: 'default', uid: 'uid-podi16' },
      podFrom: 'annotation',
    });
  });

  it('of a container says its name, its sandbox and its pod', () => {
    expect(annotationsOf('2.3.4/bundle-container/config.json')).toMatchObject({
      type: 'container',
      containerName: 'app1',
      sandboxId: '1b317bcd77f345a8816317abfd38ca881de33aeafa1a53e09af2d3501b65e94f',
      pod: { name: 'podi23', namespace: 'default', uid: 'uid-podi23' },
    });
  });

  it('of containerd 1.4 says it through the log directory alone', () => {
    const annotations = new Map([
      ['io.kubernetes.cri.container-type', 'sandbox'],
      ['io.kubernetes.cri.sandbox-id', 'abc'],
      ['io.kubernetes.cri.sandbox-log-directory', '/var/log/pods/shop_web-0_0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'],
    ]);
    expect(parseCriAnnotations(annotations)).toMatchObject({
      pod: { name: 'web-0', namespace: 'shop', uid: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0' },
      podFrom: 'log directory',
    });
  });

  it('of docker says where its container directory is', () => {
    const config = parseOciConfig(stateText('moby/container/config.json'));
    expect(config?.annotations.size).toBe(0);
    expect(config?.mounts.get('/etc/hostname')).toBe(
      '/var/lib/docker/containers/69f1bfcd8d42505da03279d88913eb0e56941ea03c5a71137c4fc115b6a834eb/hostname',
    );
  });

  it.each(['', '{', '[]', 'null', '{"annotations":[1],"mounts":{"a":1},"linux":7}'])('may be %j', text => {
    const config = parseOciConfig(text);
    if (config !== null)
      expect([config.annotations.size, config.mounts.size, config.cgroupsPath]).toEqual([0, 0, null]);
  });
});

describe('the socket of a shim', () => {
  const address = 'unix:///run/containerd/s/4a259ac7e671194fd28b2c08abbaea7c482a78c5f0a460705a210f3520c0a834';

  it('stands in bootstrap.json since 2.0, with the version of the API', () => {
    expect(parseBootstrap(stateText('2.3.4/bundle-sandbox/bootstrap.json'))).toEqual({
      address,
      version: 3,
      protocol: 'ttrpc',
    });
  });

  it('stands alone in `address` before', () => {
    expect(parseAddress(stateText('1.6.20/bundle-sandbox/address'))).toEqual({
      address: 'unix:///run/containerd/s/35210554d27f177263c86c5392df6476b0f7514d8556545415d5810d1a59f1d9',
      version: null,
      protocol: null,
    });
  });

  it('is null for an empty file or one with something else in it', () => {
    expect(parseAddress('')).toBeNull();
    expect(parseAddress('unix:///a b')).toBeNull();
    expect(parseBootstrap('{"version":3}')).toBeNull();
  });
});
