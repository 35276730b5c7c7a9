import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { ShimCall, ShimQuestion } from '../../src/host/port.ts';
import { listAnswer } from '../../src/sandbox/list-answer.ts';
import { lookOf } from './looks.ts';
import { MemoryHost } from './memory-host.ts';
import { addDocker, addPod, idOf } from './pods.ts';

const SCHEMA = JSON.parse(readFileSync(new URL('../../schemas/list.schema.json', import.meta.url), 'utf8'));
// `format` is a note for people here: durations and dates are checked where they are made.
const matchesSchema = new Ajv2020({ allErrors: true, formats: { 'date-time': true } }).compile(SCHEMA);

const CRI = '/var/lib/containerd/io.containerd.grpc.v1.cri/containers';

async function list(memory: MemoryHost, check = false, probe = false) {
  const answer = await listAnswer(memory.host, null, { check, probe, graceMs: 5 });
  matchesSchema(JSON.parse(JSON.stringify(answer.json)));
  expect(matchesSchema.errors).toBeNull();
  return answer;
}

function stuckPod(memory: MemoryHost, name: string, shimPid: number, threads: number) {
  addPod(memory, { name, shimPid });
  const stuck = {
    state: 'D',
    wchan: 'wb_wait_for_completion',
    since: 250,
    syscall: '166 0x1 0x0 0x0 0x0 0x0 0x0 0x7f 0x7e',
  };
  const pod = memory.files.get(`/proc/${shimPid}/cwd`) as { readonly link: string };
  const argv = String(memory.files.get(`/proc/${shimPid}/cmdline`))
    .split('\0')
    .slice(0, -1);
  const look = lookOf(shimPid, 'containerd-shim', [{}, ...Array.from({ length: threads }, () => stuck)]);
  memory.add({ pid: shimPid, comm: 'containerd-shim', cwd: pod.link, argv, look });
}

describe('the list of sandboxes', () => {
  it('holds the threads of some processes at a time, on a node with many', async () => {
    const memory = new MemoryHost();
    for (let index = 0; index < 50; index += 1) addPod(memory, { name: `web-${index}`, shimPid: 1000 + 10 * index });
    const stuck = lookOf(1492, 'sleep', [{ state: 'D', wchan: 'folio_wait_bit_common', since: 30 }]);
    memory.add({ pid: 1492, comm: 'sleep', ppid: 1490, startTicks: '14920', look: stuck });
    const { json } = await list(memory);
    expect(json.sandboxes.filter(({ blocked }) => blocked.length > 0).map(({ name }) => name)).toEqual(['shop/web-49']);
    expect(memory.lookCalls.flat().toSorted()).toEqual([...new Set(memory.lookCalls.flat())].toSorted());
    expect(memory.lookCalls.flat()).toHaveLength(100);
    expect(Math.max(...memory.lookCalls.map(({ length }) => length))).toBeLessThan(50);
  });

  it('shows pods, shims, ages, containers, and what is blocked in what and for how long', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', shimPid: 200, containers: ['postgres', 'exporter'] });
    stuckPod(memory, 'web-0', 300, 5);
    addDocker(memory, 'plain', 400);
    memory.remove(203);

    const { text, json } = await list(memory);

    const docker = json.sandboxes.find(({ runtime }) => runtime === 'docker')?.id.slice(0, 12);
    expect(text).toBe(
      [
        'POD         SANDBOX       SHIM  AGE          CONTAINERS',
        `shop/db     ${idOf('db@shop').slice(0, 12)}  200   16 min 20 s  exporter (dead),postgres`,
        `shop/web-0  ${idOf('web-0@shop').slice(0, 12)}  300   16 min 10 s  app`,
        '  blocked: umount2 in wb_wait_for_completion for 4 min 10 s (shim 300)',
        '  blocked: umount2 in wb_wait_for_completion for 4 min 10 s (shim 300)',
        '  blocked: umount2 in wb_wait_for_completion for 4 min 10 s (shim 300)',
        '  and 2 more',
        `registry    ${docker}  400   16 min       registry (dead)`,
        '',
      ].join('\n'),
    );
    expect(json.sandboxes[0]).toMatchObject({ name: 'shop/db', ageSeconds: 980, shims: [{ pid: 200 }] });
    expect(json.sandboxes[1]?.blocked).toHaveLength(5);
  });

  it('fits 100 columns, whatever a pod is called', async () => {
    const memory = new MemoryHost();
    addPod(memory, {
      name: `${'long-'.repeat(50)}name`,
      shimPid: 200,
      containers: ['a'.repeat(63), 'b'.repeat(63), '\x1b[31m\nred'],
    });
    const { text } = await list(memory);
    expect(text).toMatch(/^shop\/long-long.*…/m);
    expect(text.split('\n')).toHaveLength(3);
    expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThanOrEqual(100);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
    expect(text.replaceAll('\n', '')).not.toMatch(/[\x00-\x1f]/);
  });

  it('may be empty', async () => {
    expect((await list(new MemoryHost())).text).toBe('There is no sandbox on this node.\n');
  });

  it('says what it could not read', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', shimPid: 200 });
    memory.put('/proc/200/cmdline', { outcome: 'timeout' });
    expect((await list(memory)).notRead).toEqual(['Not read: /proc/200/cmdline: timeout']);
  });

  it('is refused where nothing may be seen', async () => {
    await expect(list(new MemoryHost().remove(1))).rejects.toMatchObject({ code: 'not-permitted', exit: 5 });
  });
});

describe('the check of status files against /proc', () => {
  const WALL = '2026-11-29T12:00:00.000Z';
  const ns = (secondsAgo: number) => String(BigInt(Date.parse(WALL) - secondsAgo * 1000) * 1_000_000n);
  const status = (pid: number, times: { started?: number; finished?: number }) =>
    JSON.stringify({
      Version: 'v1',
      Pid: pid,
      CreatedAt: 1,
      StartedAt: times.started ?? 0,
      FinishedAt: times.finished ?? 0,
      ExitCode: 0,
    });

  function node(): MemoryHost {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', shimPid: 200, containers: ['postgres', 'exporter'] });
    write(memory, idOf('postgres/db@shop'), status(202, { started: 5 }));
    write(memory, idOf('exporter/db@shop'), status(203, { started: 5 }));
    return memory;
  }

  function write(memory: MemoryHost, id: string, text: string, secondsAgo = 60) {
    memory.put(`${CRI}/${id}/status`, text);
    memory.mtimes.set(`${CRI}/${id}/status`, ns(secondsAgo));
  }

  const check = async (memory: MemoryHost) => {
    const { json, agrees, text } = await list(memory, true);
    const rows = json.check?.disagreements.map(row => [
      row.containerName ?? row.containerId.slice(0, 4),
      row.says,
      row.initAlive,
    ]);
    return { rows, agrees, text, compared: json.check?.compared };
  };

  it('finds none on a healthy node', async () => {
    expect(await check(node())).toMatchObject({ rows: [], agrees: true, compared: 2 });
  });

  it('says nothing of containers whose processes are in a virtual machine: kata', async () => {
    const memory = node();
    memory.put('/proc/200/exe', { link: '/opt/kata/bin/containerd-shim-kata-v2' });
    for (const pid of [201, 202, 203]) memory.remove(pid);
    memory.add({ pid: 260, comm: 'qemu-system-x86', ppid: 1, cgroup: '0::/kata_overhead/1f\n' });
    for (const name of ['postgres', 'exporter']) {
      const id = idOf(`${name}/db@shop`);
      memory.files.delete(`/run/containerd/runc/k8s.io/${id}/state.json`);
      memory.files.delete(`/run/containerd/io.containerd.runtime.v2.task/k8s.io/${id}/init.pid`);
      write(memory, id, status(260, { started: 5 }));
    }
    expect(await check(memory)).toMatchObject({ rows: [], agrees: true, compared: 2 });
  });

  it('finds a container that CRI calls running and that is gone', async () => {
    const { rows, agrees, text } = await check(node().remove(202));
    expect([rows, agrees]).toEqual([[['postgres', 'running', false]], false]);
    expect(text).toContain('2 status files compared with /proc: 1 disagree.');
    expect(text).toMatch(/postgres +shop\/db +\w{12} +CRI says running +202 is gone +1 min ago/);
  });

  it.each([
    ['is a zombie', { pid: 202, comm: 'sleep', ppid: 200, threads: 1, state: 'Z', startTicks: '2020' }],
    ['is another process by now', { pid: 202, comm: 'other', ppid: 1, threads: 1, startTicks: '99999' }],
  ])('finds one whose init %s', async (_, process) => {
    expect((await check(node().add(process))).rows).toEqual([['postgres', 'running', false]]);
  });

  it("finds one after runc's delete, when only the stale pid file is left", async () => {
    const memory = node().remove(202);
    memory.files.delete(`/run/containerd/runc/k8s.io/${idOf('postgres/db@shop')}/state.json`);
    expect((await check(memory)).rows).toEqual([['postgres', 'running', false]]);
    // The number was given to somebody else.
    memory.add({ pid: 202, comm: 'sshd', ppid: 1, threads: 1 });
    expect((await check(memory)).rows).toEqual([['postgres', 'running', false]]);
  });

  it('finds one that CRI calls exited and that lives', async () => {
    const memory = node();
    write(memory, idOf('postgres/db@shop'), status(202, { started: 5, finished: 6 }));
    expect((await check(memory)).rows).toEqual([['postgres', 'exited', true]]);
  });

  it('finds one that lost bundle and shim', async () => {
    const memory = node();
    write(memory, idOf('lost'), status(777, { started: 5 }));
    write(memory, idOf('done'), status(778, { started: 5, finished: 6 }));
    expect((await check(memory)).rows).toEqual([[idOf('lost').slice(0, 4), 'running', false]]);
    memory.add({ pid: 777, comm: 'app', ppid: 1, threads: 1, cgroup: `0::/kubepods/podx/${idOf('lost')}\n` });
    expect((await check(memory)).rows).toEqual([]);
  });

  it('does not count what was only created, nor what was written within the last second', async () => {
    const memory = node().remove(202).remove(203);
    write(memory, idOf('postgres/db@shop'), status(202, {}));
    write(memory, idOf('exporter/db@shop'), status(203, { started: 5 }), 0.4);
    expect((await check(memory)).rows).toEqual([]);
  });

  it('does not count what containerd puts right within a second', async () => {
    const memory = node().remove(202);
    const read = memory.readRisky.bind(memory);
    let times = 0;
    memory.readRisky = async (files, deadline) => {
      const results = await read(files, deadline);
      const reads = files.some(({ path }) => path.endsWith(`${idOf('postgres/db@shop')}/status`));
      if (reads && ++times === 1) write(memory, idOf('postgres/db@shop'), status(202, { started: 5, finished: 6 }));
      return results;
    };
    expect(await check(memory)).toMatchObject({ rows: [], agrees: true });
    expect(times).toBe(2);
  });

  it('finds a container that docker calls running and that is gone', async () => {
    const memory = new MemoryHost();
    const id = addDocker(memory, 'plain', 400);
    memory.mtimes.set(`/var/lib/docker/containers/${id}/config.v2.json`, ns(60));
    const { rows, text } = await check(memory);
    expect(rows).toEqual([['registry', 'running', false]]);
    expect(text).toMatch(/docker says running/);
  });

  it('does not say that all is well when a status file hangs', async () => {
    const memory = node().put(`${CRI}/${idOf('postgres/db@shop')}/status`, { outcome: 'timeout' });
    const { rows, agrees, text, compared } = await check(memory);
    expect([rows, agrees, compared]).toEqual([[], false, 1]);
    expect(text).toContain(`Not read, and so not compared:\n  ${CRI}/${idOf('postgres/db@shop')}/status: timeout\n`);
  });
});

describe('the check of shims and bundles', () => {
  const audit = async (memory: MemoryHost) => {
    const { json, agrees, text } = await list(memory, true);
    const { shimsWithoutChildren = [], bundlesWithoutShim = [] } = json.check ?? {};
    return {
      idle: shimsWithoutChildren.map(({ pid, sandbox }) => `${sandbox} ${pid}`),
      lost: bundlesWithoutShim.map(({ containerName, sandbox }) => `${sandbox} ${containerName}`),
      ...{ agrees, text },
    };
  };

  it('finds a shim with no process below it', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', shimPid: 200 });
    addPod(memory, { name: 'web', shimPid: 300 });
    memory.remove(201).remove(202);
    const { idle, agrees, text } = await audit(memory);
    expect([idle, agrees]).toEqual([['shop/db 200'], false]);
    expect(text).toMatch(
      /^Shims with no process below them:\n\nPOD +SHIM +ID +AGE\nshop\/db +200 +\w{12} +16 min 20 s$/m,
    );
  });

  it('does not count one that gets a child, or ends, within the grace', async () => {
    for (const later of [
      (memory: MemoryHost) => memory.add({ pid: 210, comm: 'runc', ppid: 200 }),
      (memory: MemoryHost) => memory.remove(200),
    ]) {
      const memory = new MemoryHost();
      addPod(memory, { name: 'db', shimPid: 200 });
      memory.remove(201).remove(202);
      setTimeout(() => later(memory), 3);
      expect((await audit(memory)).idle).toEqual([]);
    }
  });

  it('leaves out shims whose processes may be elsewhere', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', shimPid: 200 });
    memory.remove(201).remove(202);
    memory.put('/proc/200/exe', { link: '/opt/kata/bin/containerd-shim-kata-v2' });
    expect((await audit(memory)).idle).toEqual([]);
  });

  it('finds the bundles whose shim is gone', async () => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', shimPid: 200 });
    addPod(memory, { name: 'web', shimPid: 300 });
    memory.remove(200).remove(201).remove(202);
    const { lost, agrees, text } = await audit(memory);
    expect([lost, agrees]).toEqual([['shop/db null', 'shop/db app'], false]);
    expect(text).toMatch(/^Bundles whose shim is gone:\n\nCONTAINER +POD +BUNDLE\n/m);
  });
});

describe('the probe of shims', () => {
  const node = (outcomes: Readonly<Record<string, Partial<ShimCall>>>) => {
    const memory = new MemoryHost();
    addPod(memory, { name: 'db', shimPid: 200 });
    addPod(memory, { name: 'web', shimPid: 300, version: '2.3' });
    const asked: ShimQuestion[] = [];
    Object.assign(memory, {
      async askShims(questions: readonly ShimQuestion[]): Promise<readonly (readonly ShimCall[])[]> {
        asked.push(...questions);
        return questions.map(({ id }): readonly ShimCall[] => {
          const pid = id === idOf('db@shop') ? 200 : 300;
          const call = { call: 'Connect', container: null, service: 's', offsetMs: 1, latencyMs: 4 } as const;
          const answered = { outcome: 'ok', answer: { shimPid: pid, taskPid: 1 } } as const;
          return [{ ...call, ...answered, ...outcomes[pid] }];
        });
      },
    });
    return { memory, asked };
  };

  it('says how long they took, and is content when all answer', async () => {
    const { memory, asked } = node({});
    const { text, agrees, json } = await list(memory, false, true);
    expect(text).toContain('\n2 shims asked: 2 answered in 4 ms.\n');
    expect([agrees, json.probe?.map(({ sandbox, latencyMs }) => [sandbox, latencyMs])]).toEqual([
      true,
      [
        ['shop/db', 4],
        ['shop/web', 4],
      ],
    ]);
    expect(asked.map(({ apis, containers }) => [apis, containers])).toEqual([
      [['v2', 'v3'], []],
      [['v3', 'v2'], []],
    ]);
  });

  it('takes the number that a shim has in a node of its own for the shim', async () => {
    const { memory } = node({ 200: { answer: { shimPid: 60, taskPid: 1 } } });
    const own = memory.files.get('/proc/200/status');
    memory.put('/proc/200/status', String(own).replace(/^NSpid:.*$/m, 'NSpid:\t200\t60'));
    const { agrees, json } = await list(memory, false, true);
    expect([agrees, json.probe?.map(({ answeredBy }) => answeredBy)]).toEqual([true, [200, 300]]);
  });

  it('names those that do not answer, are slow, or are somebody else', async () => {
    const silent = { outcome: 'timeout', answer: null, detail: 'no answer within 2000 ms' } as const;
    const { text, agrees } = await list(node({ 200: silent, 300: { latencyMs: 900 } }).memory, false, true);
    expect(agrees).toBe(false);
    expect(text).toContain('2 shims asked: 1 answered in 900 ms, 1 did not.');
    expect(text).toMatch(/^shop\/db +200 +timeout +no answer within 2000 ms$/m);
    expect(text).toMatch(/^shop\/web +300 +after 900 ms$/m);
    const replaced = await list(node({ 200: { answer: { shimPid: 999, taskPid: 1 } } }).memory, false, true);
    expect([replaced.agrees, replaced.text]).toEqual([
      false,
      expect.stringMatching(/^shop\/db +200 +answered by 999$/m),
    ]);
  });

  it('finds the socket of a shim whose bundle says nothing, as the shim has it open', async () => {
    const { memory, asked } = node({});
    memory.files.delete(`/run/containerd/io.containerd.runtime.v2.task/k8s.io/${idOf('db@shop')}/address`);
    memory.put('/proc/200/fd/9', { link: 'socket:[4711]' });
    const head = 'Num       RefCount Protocol Flags    Type St Inode Path\n';
    const row = (inode: number, path: string) => `ffff888: 00000002 00000000 00010000 0001 01 ${inode} ${path}\n`;
    memory.put('/proc/200/net/unix', head + row(1, '/run/other.sock') + row(4711, '@/containerd-shim/x.sock'));
    const { json } = await list(memory, false, true);
    expect(asked[0]?.socket).toBe('@/containerd-shim/x.sock');
    memory.files.delete('/proc/200/fd/9');
    expect((await list(memory, false, true)).json.probe?.[0]).toMatchObject({
      outcome: 'not-asked',
      detail: 'no socket of it was found',
    });
    expect(json.probe?.[0]).toMatchObject({ outcome: 'ok' });
  });
});
