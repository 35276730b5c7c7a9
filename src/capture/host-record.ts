import os from 'node:os';
import type { HostRecord } from '../bundle/manifest.ts';
import type { Host } from '../host/port.ts';

/** The machine, for the manifest. Reads /proc and uname(2) only; the time zone's link, which lies on a disk, through a probe. */
export async function hostRecord(host: Host): Promise<HostRecord> {
  const text = (path: string): string => host.read(path).body.toString('latin1').trim();
  const memory = /^MemTotal:\s+(\d+) kB/m.exec(text('/proc/meminfo'));
  const uptime = Number.parseFloat(text('/proc/uptime'));
  return {
    hostname: os.hostname(),
    bootId: text('/proc/sys/kernel/random/boot_id') || null,
    kernel: os.release(),
    architecture: os.arch(),
    cpus: os.availableParallelism(),
    memoryBytes: memory === null ? 0 : Number(memory[1]) * 1024,
    uptimeSeconds: Number.isFinite(uptime) ? uptime : null,
    timezone: await timezone(host),
  };
}

async function timezone(host: Host): Promise<HostRecord['timezone']> {
  const [link] = await host.readRisky([{ path: '/etc/localtime', what: 'link' }], { deadlineMs: 500 });
  const zone = link?.body.toString('utf8').split('/zoneinfo/')[1] ?? '';
  return { name: zone === '' ? 'unknown' : zone, utcOffsetMinutes: -new Date().getTimezoneOffset() };
}
