import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls `look` until it returns something truthy, and returns that.
 * @param what what is waited for, in words: the message when the time is over
 * @throws Error when `deadlineMs` have passed; an error of `look` itself passes through
 */
export async function until<T>(
  what: string,
  deadlineMs: number,
  look: () => T | Promise<T>,
  everyMs = 20,
): Promise<Exclude<Awaited<T>, null | undefined | false | 0 | ''>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen as Exclude<Awaited<T>, null | undefined | false | 0 | ''>;
    if (performance.now() > end) throw new Error(`${what}: not seen within ${deadlineMs} ms`);
    await sleep(everyMs);
  }
}
