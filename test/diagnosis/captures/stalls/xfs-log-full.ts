import { execFileSync, spawn } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bindfs } from '../../../lab/bindfs.ts';
import { pids, status, threads } from '../../../lab/proc.ts';
import { end, signal } from '../../../lab/processes.ts';
import { type Stall, stalled } from '../../../lab/stalls/stall.ts';
import { until } from '../../../lab/wait.ts';

/** An XFS with a small log on a disk that completes nothing more, under many creations of files. Needs mkfs.xfs (MKFS_XFS). */
export function xfsLogFull(): Promise<Stall> {
  return stalled(async (folder, undo) => {
    const slow = await bindfs(folder, 'slow', []);
    const image = join(slow.backing, `${folder.name}.img`);
    const file = openSync(image, 'w');
    ftruncateSync(file, 64 * 2 ** 20);
    closeSync(file);
    // What mkfs.xfs asks for before it makes a filesystem this small, with a log of some MB.
    const env = { ...process.env, TEST_DIR: '1', TEST_DEV: '1', QA_CHECK_FS: '1' };
    execFileSync(process.env['MKFS_XFS'] ?? 'mkfs.xfs', ['-q', '-f', image], { env });
    const device = execFileSync('losetup', ['-f', '--show', join(slow.point, basename(image))], {
      encoding: 'utf8',
    }).trim();
    const point = join(folder.path, 'disk');
    mkdirSync(point);
    execFileSync('mount', ['-t', 'xfs', device, point]);
    undo.defer(() => end(slow.pid));
    const start = () => {
      const script = `cd "${point}" && seq 1 20000 | sed "s/^/$$-/" | xargs mkdir`;
      const child = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true });
      child.unref();
      folder.process(child.pid ?? -1, 'sh');
    };
    for (let count = 0; count < 4; count += 1) start();
    // Until what they need of the disk has been read.
    await sleep(500);
    undo.defer(() => signal(slow.pid, 'SIGCONT'));
    signal(slow.pid, 'SIGSTOP');
    await until('a thread to wait for the log', 20_000, () =>
      pids().find(pid => status(pid)?.comm === 'mkdir' && threads(pid)[0]?.stack.includes('xlog_grant_head_wait')),
    );
    return {};
  });
}
