import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

/** Debian's; scripts/test.ts installs it where that is quick. */
const EXECUTABLE = '/usr/bin/chromium';

/** Why there is no browser to look with; null where there is one. */
export function browserUnavailable(): string | null {
  return existsSync(EXECUTABLE) ? null : 'no browser: apt-get install --no-install-recommends chromium';
}

/** A browser with a profile of its own, without its own traffic; it is gone at the end, and its profile too. */
export async function openBrowser(): Promise<BrowserContext & AsyncDisposable> {
  const profile = mkdtempSync(join(tmpdir(), 'stallcap-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: EXECUTABLE,
    headless: true,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
    ],
  });
  const dispose = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return Object.assign(context, { [Symbol.asyncDispose]: dispose });
}

/** What a page did besides being there. */
export interface Watched {
  readonly page: Page;
  /** Addresses that were asked for, the page's own excepted. */
  readonly requests: readonly string[];
  readonly console: readonly string[];
  readonly errors: readonly string[];
}

/** Opens a file, and writes down everything that it asks for or complains about. */
export async function openPage(context: BrowserContext, file: string): Promise<Watched> {
  const page = await context.newPage();
  const requests: string[] = [];
  const said: string[] = [];
  const errors: string[] = [];
  const address = pathToFileURL(file).href;
  page.on('request', request => {
    if (request.url() !== address) requests.push(request.url());
  });
  page.on('console', message => said.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', error => errors.push(String(error)));
  page.on('dialog', dialog => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address, { waitUntil: 'load' });
  return { page, requests, console: said, errors };
}
