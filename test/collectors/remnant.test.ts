import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { remnant } from '../../src/collectors/remnant.ts';
import { createHost, type LinuxHost } from '../../src/host/linux.ts';
import type { Remnant } from '../../src/sandbox/types.ts';
import { broughtBy, CONTAINER_ID, captureOn, textOf } from './capture-on.ts';
import { PaperHost } from './paper-host.ts';

const UID = '48928a4e-351c-4326-9332-0d8a02b0f34a';
let folder: string;
let host: LinuxHost;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stallcap-remnant-'));
  host = createHost();
});

afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true });
});

function remains(...paths: readonly string[]): Remnant {
  return { what: 'pod', pod: { name: 'web-0', namespace: 'shop', uid: UID }, ids: [CONTAINER_ID], paths };
}

const bring = (target: Remnant) => broughtBy(remnant, captureOn(host, { remnant: target }));

describe('what is left of a pod without a shim', () => {
  it('is the end of the newest logs of each container, links not followed', async () => {
    const logs = join(folder, 'pods', `shop_web-0_${UID}`);
    mkdirSync(join(logs, 'app'), { recursive: true });
    const write = (name: string, text: string, second: number) => {
      writeFileSync(join(logs, 'app', name), text);
      utimesSync(join(logs, 'app', name), second, second);
    };
    write('0.log', 'first\n', 1000);
    write('1.log', 'second\n', 2000);
    write('2.log', `${'a line\n'.repeat(40_000)}third\n`, 3000);
    writeFileSync(join(folder, 'secret'), 's3cret');
    symlinkSync(join(folder, 'secret'), join(logs, 'app', '3.log'));

    const brought = await bring(remains(logs));
    const names = [...brought.keys()].filter(path => path.startsWith('logs/'));
    expect(names).toEqual(['logs/pods/app/2.log', 'logs/pods/app/1.log']);
    const newest = brought.get('logs/pods/app/2.log');
    expect(newest).toMatchObject({ outcome: 'ok' });
    expect(newest?.body.length).toBeGreaterThan(255 * 1024);
    expect(newest?.body.toString()).toMatch(/^(a line\n)+third\n$/);
    expect([...brought.values()].map(({ body }) => body.toString()).join('')).not.toContain('s3cret');
    expect(textOf(brought, 'remnant/pod-logs.txt')).toMatch(/^file .* app\/0\.log$[\s\S]*^link .* app\/3\.log$/m);
  });

  it("is the kubelet's directory by names, whose mounts are not entered", async () => {
    const pod = join(folder, 'pods', UID);
    mkdirSync(join(pod, 'volumes', 'kubernetes.io~nfs', 'data', 'inside'), { recursive: true });
    mkdirSync(join(pod, 'containers', 'app'), { recursive: true });
    writeFileSync(join(pod, 'containers', 'app', '1234abcd'), '');
    const text = textOf(await bring(remains(pod)), 'remnant/kubelet-pod.txt');
    expect(text).toContain(`${pod}/volumes/kubernetes.io~nfs/data/\n`);
    expect(text).toContain(`${pod}/containers/app/1234abcd\n`);
    expect(text).not.toContain('inside');
  });

  it('is that of both where the pod was made anew: logs, directories and mounts of either uid', async () => {
    const other = '9a1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
    const uids = [UID, other];
    const paper = new PaperHost({
      ...Object.fromEntries(uids.map(uid => [`/var/log/pods/shop_web-0_${uid}/app/0.log`, `of ${uid}\n`])),
      ...Object.fromEntries(uids.map(uid => [`/var/lib/kubelet/pods/${uid}/etc-hosts`, ''])),
      '/proc/1/mountinfo': uids.map(uid => `1 0 0:50 / /var/lib/kubelet/pods/${uid}/x rw - tmpfs t rw\n`).join(''),
    });
    const paths = uids.flatMap(uid => [`/var/log/pods/shop_web-0_${uid}`, `/var/lib/kubelet/pods/${uid}`]);
    const of = { ...remains(...paths), pod: { name: 'web-0', namespace: 'shop', uid: null } };
    const brought = await broughtBy(remnant, captureOn(paper.host, { remnant: of }));
    expect(textOf(brought, 'logs/pods/app/0.log')).toBe(`of ${UID}\n`);
    expect(textOf(brought, 'logs/pods-2/app/0.log')).toBe(`of ${other}\n`);
    expect(textOf(brought, 'remnant/kubelet-pod-2.txt')).toContain(other);
    expect(textOf(brought, 'remnant/mounts.txt').trimEnd().split('\n')).toHaveLength(2);
  });

  it("is CRI's status of its containers, and when it was written", async () => {
    const directory = join(folder, 'io.containerd.grpc.v1.cri', 'containers', CONTAINER_ID);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'status'), '{"Version":"v1"}');
    // Whatever the umask is.
    chmodSync(join(directory, 'status'), 0o644);
    const brought = await bring(remains(directory));
    expect(textOf(brought, `containers/${CONTAINER_ID}/status.json`)).toBe('{"Version":"v1"}');
    expect(textOf(brought, `containers/${CONTAINER_ID}/status.stat`)).toMatch(
      new RegExp(`^file 0644 uid=${process.getuid?.()} size=16 mtime=`, 'm'),
    );
  });

  it('is the bundle directory of a container whose shim is gone, with the last complaint of its runc', async () => {
    const bundle = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${CONTAINER_ID}`;
    const config = '{"process":{"env":["PASSWORD=s3cret"]}}';
    const paper = new PaperHost({
      [`${bundle}/log.json`]: '{"level":"error","msg":"container_linux.go: starting"}\n',
      [`${bundle}/config.json`]: config,
    });
    const of = remains(bundle, `/run/containerd/runc/k8s.io/${CONTAINER_ID}`);
    const brought = await broughtBy(remnant, captureOn(paper.host, { remnant: of }));
    expect(textOf(brought, `containers/${CONTAINER_ID}/bundle/log.json`)).toContain('container_linux.go');
    expect(textOf(brought, `containers/${CONTAINER_ID}/bundle.txt`)).toMatch(/ config\.json$/m);
    expect([...brought.values()].map(({ body }) => body.toString()).join('')).not.toContain('s3cret');
  });

  it('is every mount that names it', async () => {
    const paper = new PaperHost({
      '/proc/1/mountinfo': `1 0 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:50 / /var/lib/kubelet/pods/${UID}/volumes/x rw - tmpfs t rw\n3 1 0:51 / /run/${CONTAINER_ID}/rootfs rw - overlay o rw\n`,
    });
    const brought = await broughtBy(remnant, captureOn(paper.host, { remnant: remains() }));
    expect(
      textOf(brought, 'remnant/mounts.txt')
        .split('\n')
        .map(line => line.split(' ')[0]),
    ).toEqual(['2', '3', '']);
  });

  it('may be nothing but what the mounts say', async () => {
    const paper = new PaperHost({ '/proc/1/mountinfo': '1 0 254:0 / / rw - ext4 /dev/vda rw\n' });
    const brought = await broughtBy(remnant, captureOn(paper.host, { remnant: remains() }));
    expect([...brought].map(([path, { outcome }]) => [path, outcome])).toEqual([['remnant/mounts.txt', 'empty']]);
  });
});
