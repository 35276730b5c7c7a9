import type { Deadline, Host } from '../host/port.ts';

/** The same host, whose risky reads end with a signal, at the latest. */
export function interruptible(host: Host, signal: AbortSignal): Host {
  const until = (deadline: Deadline): Deadline => ({
    ...deadline,
    signal: deadline.signal === undefined ? signal : AbortSignal.any([deadline.signal, signal]),
  });
  const own: Partial<Host> = {
    readRisky: (files, deadline) => host.readRisky(files, until(deadline)),
    cpuClocks: (cpus, deadline) => host.cpuClocks(cpus, until(deadline)),
    lookRisky: (pids, deadline) => host.lookRisky(pids, until(deadline)),
  };
  return new Proxy(host, {
    get(target, property) {
      const value: unknown = Reflect.get(own, property) ?? Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Aborts some time after another signal has. */
export function afterwards(signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController();
  const wait = () => setTimeout(() => later.abort(signal.reason), ms).unref();
  if (signal.aborted) wait();
  else signal.addEventListener('abort', wait, { once: true });
  return later.signal;
}
