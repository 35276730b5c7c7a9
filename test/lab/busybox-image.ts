import { createHash } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';
import { run } from './run.ts';

/** Names of the two images in the archive. */
export const BUSYBOX = 'localhost/busybox:1';
export const PAUSE = 'localhost/pause:1';

const digest = (body: Buffer) => `sha256:${createHash('sha256').update(body).digest('hex')}`;
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/**
 * Writes an OCI image archive (image-spec 1.0, oci-layout) made from the machine's static busybox: one layer, and
 * two images of it, one to run commands in and one to hold a pod's namespaces.
 */
export async function writeBusyboxImage(file: string): Promise<void> {
  const layer = await busyboxLayer();
  const archive = pack();
  const blob = (body: Buffer) => {
    archive.entry({ name: `blobs/sha256/${digest(body).slice(7)}` }, body);
    return { digest: digest(body), size: body.length };
  };
  const written = pipeline(archive, createWriteStream(file));
  archive.entry({ name: 'oci-layout' }, json({ imageLayoutVersion: '1.0.0' }));
  const layerBlob = { mediaType: 'application/vnd.oci.image.layer.v1.tar', ...blob(layer) };
  const manifests = [
    { name: BUSYBOX, command: ['/bin/sh'] },
    { name: PAUSE, command: ['/bin/sleep', '2147483647'] },
  ].map(({ name, command }) => {
    const config = blob(
      json({
        architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
        os: 'linux',
        config: { Cmd: command, Env: ['PATH=/bin'] },
        rootfs: { type: 'layers', diff_ids: [layerBlob.digest] },
      }),
    );
    const manifest = blob(
      json({
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
        layers: [layerBlob],
      }),
    );
    return {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      ...manifest,
      annotations: { 'io.containerd.image.name': name },
    };
  });
  archive.entry({ name: 'index.json' }, json({ schemaVersion: 2, manifests }));
  archive.finalize();
  await written;
}

/** The root filesystem of the images as a tar: busybox with a link for each of its applets. */
export async function busyboxLayer(): Promise<Buffer> {
  const layer = pack();
  for (const name of ['bin', 'dev', 'etc', 'proc', 'sys', 'tmp']) layer.entry({ name: `${name}/`, type: 'directory' });
  layer.entry({ name: 'bin/busybox', mode: 0o755 }, readFileSync('/bin/busybox'));
  for (const applet of (await run('/bin/busybox', ['--list'])).split('\n')) {
    if (applet !== 'busybox') layer.entry({ name: `bin/${applet}`, type: 'symlink', linkname: 'busybox' });
  }
  layer.finalize();
  return buffer(layer);
}
