import type { Browser, Page } from 'playwright-core';
import { openPage, withChromium } from './chromium.js';
import { startDemo } from './demo.js';
import { hashOf, everyLine, settled, wide } from './looks.js';
import { answerManyLines } from './many-lines.js';

/**
 * `node dist/test/browser/reading-speed.js`: measures how soon lines are on the screen, and how smoothly many of them scroll. Run it
 * manually
 * on an idle machine, because it measures times; `--profile` adds the functions that took longest while scrolling.
 */
async function main(browser: Browser): Promise<number> {
  const demo = await startDemo();
  const open = async (use: (page: Page) => Promise<void>): Promise<void> => {
    const { page, close } = await openPage(browser, demo.url, wide);
    try {
      await page.locator('.views').waitFor();
      await use(page);
    } finally {
      await close();
    }
  };
  try {
    for (let run = 0; run < firstRuns; run += 1) await open(measureFirstRow);
    await open(measureScrolling);
  } finally {
    await demo.close();
  }
  return 0;
}

const firstRuns = 4;
const asked = hashOf(everyLine, { limit: '5000' });
const goToQuery = `location.hash = ${JSON.stringify(asked)}; dispatchEvent(new PopStateEvent('popstate'));`;

/** Collects tasks that blocked the page for more than 50 ms. */
const watchTasks = `window.longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => Math.round(duration))))
    .observe({ type: 'longtask' });`;

/** The time from the first byte of 5,000 lines to the frame that shows the first of them. */
async function measureFirstRow(page: Page): Promise<void> {
  await page.evaluate(`${watchTasks}
    window.firstRow = new Promise((resolve) => {
      const look = () => requestAnimationFrame(() =>
        document.querySelector('.row') === null ? look() : requestAnimationFrame(() => resolve(performance.now())));
      look();
    });
    ${goToQuery}`);
  const shownMs = await page.evaluate<number>('firstRow');
  await settled(page);
  const settledMs = await page.evaluate<number>('performance.now()');
  const { first, last, bytes } = await page.evaluate<
    Readonly<Record<'first' | 'last' | 'bytes', number>>
  >(`(() => {
    const [{ responseStart, responseEnd, decodedBodySize }] = performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('query_range') && !name.includes('sum+by'));
    return { first: responseStart, last: responseEnd, bytes: decodedBodySize };
  })()`);
  const after = (ms: number): string => `${Math.round(ms - first)} ms`;
  print(
    `5,000 lines, ${Math.round(bytes / 1_000)} kB: first row ${after(shownMs)} after the first byte`,
    `last byte ${after(last)}, all shown ${after(settledMs)}`,
    `tasks over 50 ms: ${await longTasks(page)}`,
  );
}

const rowsHeld = 50_000;
const words =
  'reservation failed because the warehouse did not answer within its timeout and the retry was refused ';

/** Frame times while 50,000 lines of several lengths scroll at several speeds. */
async function measureScrolling(page: Page): Promise<void> {
  const lineOf = (index: number): string => `level=info index=${index} msg="${words.repeat(index % 7)}"`;
  await answerManyLines(page, rowsHeld + 10_000, lineOf);
  await page.evaluate(`${watchTasks} ${goToQuery}`);
  await page.locator('.row').first().waitFor();
  await settled(page);
  const count = async (): Promise<number> =>
    Number(await page.locator('.row').first().getAttribute('aria-setsize'));
  await page.locator('.row-head').first().focus();
  for (let rows = await count(); rows < rowsHeld; rows = await count()) {
    await page.keyboard.press('End');
    await page.waitForTimeout(50);
  }
  print(`${rowsHeld} rows loaded`, `tasks over 50 ms: ${await longTasks(page)}`);
  await page.keyboard.press('Home');
  for (const pixels of [240, 2_000, 0]) {
    const profile = process.argv.includes('--profile') ? await startProfile(page) : undefined;
    const frames = await page.evaluate<Readonly<Record<string, number>>>(scrollBy(pixels));
    print(
      pixels === 0 ? 'the whole list in 240 frames' : `${pixels} px a frame`,
      JSON.stringify(frames),
      `tasks over 50 ms: ${await longTasks(page)}`,
    );
    for (const line of (await profile?.()) ?? []) print(`  ${line}`);
  }
}

/** Scrolls for 240 frames, and returns their durations. */
function scrollBy(pixels: number): string {
  return `(async () => {
    const step = ${pixels} || (document.documentElement.scrollHeight - innerHeight) / 240;
    scrollTo(0, 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const took = [];
    let before = await frame();
    for (let at = 1; at <= 240; at++) {
      scrollTo(0, step * at);
      const now = await frame();
      took.push(now - before);
      before = now;
    }
    took.sort((a, b) => a - b);
    const round = (ms) => Math.round(ms * 10) / 10;
    return {
      median: round(took[120]),
      p95: round(took[228]),
      longest: round(took.at(-1)),
      over50: took.filter((ms) => ms > 50).length,
      rows: document.querySelectorAll('.row').length,
      elements: document.querySelectorAll('*').length,
    };
  })()`;
}

async function longTasks(page: Page): Promise<string> {
  const found = await page.evaluate<readonly number[]>('longTasks.splice(0)');
  return found.length === 0 ? 'none' : found.join(', ');
}

const mostFunctions = 15;

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples?: readonly number[];
}

/** Profiles the page until the returned function is called, which returns the functions that took longest. */
async function startProfile(page: Page): Promise<() => Promise<readonly string[]>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.start');
  return async () => {
    const { profile } = (await session.send('Profiler.stop')) as { profile: CpuProfile };
    await session.detach();
    const names = new Map(
      profile.nodes.map(({ id, callFrame }) => [id, callFrame.functionName || 'anonymous']),
    );
    const counts = new Map<string, number>();
    const samples = profile.samples ?? [];
    for (const id of samples) {
      const name = names.get(id) ?? '';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, mostFunctions)
      .map(([name, samplesOf]) => `${((samplesOf / samples.length) * 100).toFixed(1)}% ${name}`);
  };
}

function print(...parts: readonly string[]): void {
  process.stdout.write(`${parts.join('; ')}\n`);
}

process.exitCode = await withChromium(main);
