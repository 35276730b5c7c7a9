import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, ftruncateSync } from 'node:fs';
import { basename, join } from 'node:path';
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
    ftruncateSync(file, 512 * 2 ** 20);
    closeSync(file);
    const [program = 'mkfs.xfs', ...before] = (process.env['MKFS_XFS'] ?? 'mkfs.xfs').split(' ');
    execFileSync(program, [...before, '-q', '-f', image]);
    const device = execFileSync('losetup', ['-f', '--show', join(slow.point, basename(image))], { encoding: 'utf8' }).trim();
    const point = join(folder.path, 'disk');
    mkdirSync(point);
    execFileSync('mount', ['-t', 'xfs', device, point]);
    undo.defer(() => end(slow.pid));
    const start = () => {
      const script = `i=0; while :; do mkdir "${point}/$$-$i"; i=$((i+1)); done`;
      const child = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true });
      child.unref();
      folder.process(child.pid ?? -1, 'sh');
    };
    undo.defer(() => signal(slow.pid, 'SIGCONT'));
    signal(slow.pid, 'SIGSTOP');
    for (let count = 0; count < 4; count += 1) start();
    await until('a thread to wait for the log', 240_000, () =>
      pids().find(pid => status(pid)?.comm === 'mkdir' && threads(pid)[0]?.stack.includes('xlog_grant_head_wait')),
    );
    return {};
  });
}
