import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The path of Chromium: `CHROMIUM`, or Debian's path; undefined if there is none. */
export function findChromium(): string | undefined {
  const paths = [process.env['CHROMIUM'], '/usr/bin/chromium'];
  return paths.find((path) => path !== undefined && existsSync(path));
}

/** Starts a headless Chromium with a fresh profile. */
export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: flags });
}

/** Runs a command with a headless Chromium; without one, prints an error and returns exit status 2. */
export async function withChromium(use: (browser: Browser) => Promise<number>): Promise<number> {
  const found = findChromium();
  if (found === undefined) {
    process.stderr.write('no Chromium: set CHROMIUM, or install it (apt-get install chromium)\n');
    return 2;
  }
  const browser = await launch(found);
  try {
    return await use(browser);
  } finally {
    await browser.close();
  }
}

/** The size and colour scheme of a window. */
export interface Look {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
}

/** A page, and the faults it caused. */
export interface WatchedPage {
  readonly page: Page;
  /** Console errors, and requests to other machines; a check removes those that it expects. */
  readonly faults: string[];
  readonly close: () => Promise<void>;
}

/** Opens a page in a new window, in a time zone with a half-hour offset. */
export async function openPage(browser: Browser, url: string, look: Look): Promise<WatchedPage> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.scheme,
    timezoneId: 'Asia/Kolkata',
    locale: 'en-GB',
    // An animated element has no stable colour to measure.
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  context.on('request', (request) => {
    const { hostname } = new URL(request.url());
    if (hostname !== '127.0.0.1') faults.push(`a request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults, close: () => context.close() };
}
