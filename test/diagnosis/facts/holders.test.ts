import { describe, expect, it } from 'vitest';
import { CONTAINER_ID, SHIM_PID } from '../facts-of.ts';
import { factsOfMade } from '../made-bundle.ts';

const ROOTFS = `/run/containerd/io.containerd.runtime.v2.task/k8s.io/${CONTAINER_ID}/rootfs`;

describe('who holds what the pod waits for', () => {
  it('is read by pipe and by place', () => {
    const text = `4711 sleep fd 1 w pipe:[81273]
4712 bash cwd ${ROOTFS}
4713 node\\x20agent mount ${ROOTFS} in mnt:[4026532310]
what nobody knows
`;
    const { holders } = factsOfMade({ entries: { 'node/holders.txt': text } });
    expect([...(holders?.pipeWriters ?? [])]).toMatchObject([
      [81_273, [{ pid: 4711, comm: 'sleep', how: 'fd 1', ofPod: false, cite: { entry: 'node/holders.txt', line: 1 } }]],
    ]);
    expect([...(holders?.mounts ?? [])]).toMatchObject([
      [
        ROOTFS,
        [
          { pid: 4712, how: 'cwd' },
          { pid: 4713, how: 'mount namespace mnt:[4026532310]', cite: { line: 3 } },
        ],
      ],
    ]);
  });

  it('knows the processes of the pod, and that it was not looked for', () => {
    const threads = `# process ${SHIM_PID} containerd-shim\n===== ${SHIM_PID} containerd-shim S - =====\n`;
    const { holders } = factsOfMade({
      entries: { 'shim/threads-1.txt': threads, 'node/holders.txt': `${SHIM_PID} containerd-shim fd 9 w pipe:[7]\n` },
    });
    expect(holders?.pipeWriters.get(7)).toMatchObject([{ ofPod: true }]);
    expect(factsOfMade({ entries: {} }).holders).toBeNull();
  });
});
