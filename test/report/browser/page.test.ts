import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportPage } from '../../../src/report/html/page.ts';
import type { Judged } from '../../../src/report/read-report.ts';
import { FIXTURE_KINDS, judgedFixture, judgedFrom } from '../fixture-bundle.ts';
import { hostileEntries } from '../hostile.ts';
import { browserUnavailable, openBrowser, openPage } from './chromium.ts';

const reason = browserUnavailable();

describe.skipIf(reason !== null)(`the page in a browser${reason === null ? '' : ` (${reason})`}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'stallcap-page-'));
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let files = 0;

  beforeAll(async () => {
    browser = await openBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function show(judged: Judged) {
    const file = join(folder, `${files++}.html`);
    writeFileSync(file, await reportPage(judged));
    return openPage(browser, file);
  }

  it.each(FIXTURE_KINDS)(
    'of %s asks for nothing, complains of nothing, and leads every link to a line that is there',
    async kind => {
      const { page, requests, console, errors } = await show(judgedFixture(kind));
      expect({ requests, console, errors }).toEqual({ requests: [], console: [], errors: [] });
      const dead = await page.evaluate(() => {
        const { document } = globalThis as never as { document: Dom };
        return [...document.querySelectorAll('a')]
          .map(link => link.getAttribute('href') ?? '')
          .filter(href => !href.startsWith('#') || document.getElementById(href.slice(1)) === null);
      });
      expect(dead).toEqual([]);
      await page.close();
    },
  );

  it('runs nothing of a hostile bundle, and shows its words as words', async () => {
    const { page, requests, console, errors } = await show(judgedFrom(hostileEntries()));
    expect({ requests, console, errors }).toEqual({ requests: [], console: [], errors: [] });
    const seen = await page.evaluate(() => {
      const { document, hit } = globalThis as never as { document: Dom; hit?: unknown };
      const count = (selector: string) => document.querySelectorAll(selector).length;
      return {
        hit: hit ?? null,
        scripts: count('script,img,iframe,object,embed,link'),
        handlers: count('[onload],[onerror],[onclick]'),
        text: document.body.textContent,
      };
    });
    expect(seen).toMatchObject({ hit: null, scripts: 0, handlers: 0 });
    expect(seen.text).toContain('<script>window.hit=1</script>');
    expect(seen.text).not.toMatch(/\p{Cf}/u);
    await page.close();
  });

  it('would let nothing run even if something got through', async () => {
    const text = await reportPage(judgedFixture('overlay-umount-sync'));
    const file = join(folder, 'through.html');
    writeFileSync(file, text.replace('<main>', '<main><script>window.hit=1</script><img src="http://127.0.0.1:9/x">'));
    const { page, console } = await openPage(browser, file);
    expect(await page.evaluate(() => (globalThis as never as { hit?: unknown }).hit ?? null)).toBe(null);
    expect(console.join('\n')).toContain('Content Security Policy');
    await page.close();
  });

  it.each([1280, 400])('fits into %d columns of pixels, light and dark', async width => {
    const { page } = await show(judgedFixture('overlay-umount-sync'));
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate(() => {
        const { document } = globalThis as never as { document: Dom };
        return document.documentElement.scrollWidth;
      });
      expect(wide).toBe(width);
    }
    await page.close();
  });
});

/** As much of the browser's document as is asked for here: the project has no DOM types. */
interface Dom {
  readonly body: { readonly textContent: string };
  readonly documentElement: { readonly scrollWidth: number };
  getElementById(id: string): unknown;
  querySelectorAll(
    selector: string,
  ): ArrayLike<{ getAttribute(name: string): string | null }> & Iterable<{ getAttribute(name: string): string | null }>;
}
