/**
 * `npm run build && node dist/test/browser/live-memory.js --minutes=10`: follows a demo of 200 lines a second in headless Chromium, and
 * prints
 * the page's heap after a garbage collection, and its DOM node count, every 30 seconds (`--every=SECONDS`). Exits with 1 if the heap grows:
 * if
 * the median of the last third of the samples is over 15 % above that of the first.
 */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { quantile } from '../bench/asking.js';
import { readArguments } from '../watch/arguments.js';
import { withChromium } from './chromium.js';
import { startDemo } from './demo.js';
import { everyLine, hashOf, wide, withPage } from './looks.js';

const linesPerSecond = 200;
const mostGrowth = 0.15;

interface Sample {
  readonly second: number;
  readonly heapBytes: number;
  readonly nodes: number;
  readonly listeners: number;
  readonly lines: string;
}

const options = readArguments(process.argv.slice(2), ['minutes', 'every']);

async function sample(page: Page, devTools: CDPSession, startedMs: number): Promise<Sample> {
  // Two runs: the first may leave objects that only finalizers held.
  for (let run = 0; run < 2; run++) await devTools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devTools.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await devTools.send('Memory.getDOMCounters');
  return {
    second: Math.round((performance.now() - startedMs) / 1_000),
    heapBytes: usedSize,
    nodes,
    listeners: jsEventListeners,
    lines: (await page.locator('.summary-line').innerText()).replaceAll('\n', ' '),
  };
}

async function follow(page: Page, minutes: number, everySeconds: number): Promise<readonly Sample[]> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('HeapProfiler.enable');
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await page.locator('.live-state.is-live').waitFor();
  const samples: Sample[] = [];
  const startedMs = performance.now();
  while (performance.now() - startedMs < minutes * 60_000) {
    await page.waitForTimeout(everySeconds * 1_000);
    const taken = await sample(page, devTools, startedMs);
    samples.push(taken);
    const { second, heapBytes, nodes, listeners, lines } = taken;
    const heap = (heapBytes / 1e6).toFixed(2);
    process.stdout.write(`${second} s: ${heap} MB, ${nodes} nodes, ${listeners} listeners; ${lines}\n`);
  }
  return samples;
}

function median(samples: readonly Sample[]): number {
  return quantile(
    samples.map(({ heapBytes }) => heapBytes),
    0.5,
  );
}

async function main(browser: Browser): Promise<number> {
  // The options of demo-data are at the end of the file.
  const faster = (yaml: string): string =>
    `${yaml.trimEnd()}\n      linesPerSecond: ${linesPerSecond}\n      history: 1m\n`;
  const demo = await startDemo(undefined, [], faster);
  try {
    let samples: readonly Sample[] = [];
    await withPage({ browser, url: demo.url }, wide, hashOf(everyLine, { limit: '10' }), async ({ page }) => {
      samples = await follow(page, options.number('minutes', 10), options.number('every', 30));
    });
    const third = Math.max(1, Math.floor(samples.length / 3));
    const [first, last] = [median(samples.slice(0, third)), median(samples.slice(-third))];
    const growth = last / first - 1;
    process.stdout.write(
      `the heap's median in the last third is ${(growth * 100).toFixed(1)} % above the first\n`,
    );
    if (growth <= mostGrowth) return 0;
    process.stdout.write(`that is more than ${mostGrowth * 100} %\n`);
    return 1;
  } finally {
    await demo.close();
  }
}

process.exitCode = await withChromium(main);
