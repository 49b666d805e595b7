import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openPage } from './chromium.js';
import { demoToken } from './demo.js';
import { startLiveGate, type LiveGate } from './live-gate.js';
import {
  everyLine,
  fitsAndReads,
  hashOf,
  rangeText,
  schemes,
  settled,
  sizes,
  typeQuery,
  until,
  wide,
  withPage,
  type Check,
  type CheckSettings,
} from './looks.js';

/** Clicks on Live and waits for lines. */
async function goLive(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await page.locator('.row').first().waitFor();
}

/** Number of lines since the start, as shown on the page. */
const count =
  "Number(document.querySelector('.summary-line').textContent.match(/[\\d,]+/)[0].replace(',', ''))";

/** Waits until more lines have arrived. */
async function untilMore(page: Page): Promise<void> {
  const before = await page.evaluate<number>(count);
  await until(page, `${count} > ${before + 2}`);
}

/** Returns a counter of the requests for lines from now on. */
function countPolls(page: Page): () => number {
  let polls = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/query_range')) polls += 1;
  });
  return () => polls;
}

const rowTimes = `[...document.querySelectorAll('.row')]
  .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  .map((row) => row.querySelector('time').title)`;
const belowBottom = 'Math.round(document.body.scrollHeight - scrollY - innerHeight)';

/** Follows lines through a gateway. */
async function withGate(
  settings: CheckSettings,
  use: (page: Page, gate: LiveGate, faults: string[]) => Promise<void>,
): Promise<void> {
  const gate = await startLiveGate(settings.url);
  try {
    await withPage({ ...settings, url: gate.url }, wide, '', async ({ page, faults }) => {
      await typeQuery(page, everyLine);
      await use(page, gate, faults);
    });
  } finally {
    await gate.close();
  }
}

/** Removes Chromium's errors about a failed WebSocket. */
function expectFailedSockets(faults: string[]): void {
  const others = faults.filter((text) => !text.startsWith('WebSocket connection to'));
  assert.notEqual(others.length, faults.length);
  faults.splice(0, faults.length, ...others);
}

/** The demo produces lines twice a second; those of several seconds arrived while the connection was lost. */
async function expectNoGap(page: Page): Promise<void> {
  const times = await page.evaluate<string[]>(rowTimes);
  const ms = times.map((text) => Number(BigInt(text.replace(' ns', '')) / 1_000_000n));
  assert.ok(ms.every((at, index) => (ms[index - 1] ?? at) - at < 2_000));
}

/** The live view. */
export const liveChecks: readonly Check[] = [
  [
    'live lines come by themselves over a WebSocket, hold still when paused, and end',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await typeQuery(page, everyLine);
        const polls = countPolls(page);
        await goLive(page);
        await untilMore(page);
        await untilMore(page);
        assert.equal(polls(), 0, 'nothing is polled');
        await page.getByText(/[\d.]+ per second/).waitFor();
        const times = await page.evaluate<string[]>(rowTimes);
        assert.deepEqual(times, [...times].sort().reverse(), 'the newest first');
        await page.getByRole('button', { name: 'Pause' }).click();
        assert.match(await page.locator('.live-state').innerText(), /Paused/);
        const held = await page.evaluate<string[]>(rowTimes);
        await page.getByText(/\d+ new lines/).waitFor();
        assert.deepEqual(await page.evaluate<string[]>(rowTimes), held);
        await fitsAndReads(page);
        await page.getByRole('button', { name: 'Resume' }).click();
        await until(page, `${rowTimes}[0] > ${JSON.stringify(held[0])}`);
        await page.getByRole('button', { name: 'End' }).click();
        assert.equal(await page.locator('.live-state').count(), 0);
      }),
  ],
  [
    'live lines with the newest last stay at the bottom, until somebody scrolls up; the choice is kept',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine), async ({ page }) => {
        await settled(page);
        await goLive(page);
        await page.getByRole('button', { name: 'Newest last' }).click();
        await until(page, `${belowBottom} === 0`);
        const times = await page.evaluate<string[]>(rowTimes);
        assert.deepEqual(times, [...times].sort(), 'the newest last');
        await untilMore(page);
        await untilMore(page);
        await until(page, `${belowBottom} === 0`);
        await until(page, `${rowTimes}.at(-1) > ${JSON.stringify(times.at(-1))}`);
        await page.locator('.log').hover();
        await page.mouse.wheel(0, -500);
        const more = page.getByRole('button', { name: /^\d+ new lines?$/ });
        await more.waitFor();
        const [place, held] = await page.evaluate<[number, string[]]>(`[scrollY, ${rowTimes}]`);
        await untilMore(page);
        assert.deepEqual(await page.evaluate(`[scrollY, ${rowTimes}]`), [place, held], 'it holds still');
        // Pausing and resuming does not move it either.
        await page.getByRole('button', { name: 'Pause' }).click();
        await page.getByRole('button', { name: 'Resume' }).click();
        await untilMore(page);
        assert.deepEqual(await page.evaluate(`[scrollY, ${rowTimes}]`), [place, held], 'it holds still');
        await more.click();
        await until(page, `${belowBottom} === 0`);
        await until(page, `${rowTimes}.at(-1) > ${JSON.stringify(held.at(-1))}`);
        assert.equal(await more.count(), 0);
        await page.reload();
        await page.locator('.row').first().waitFor();
        await settled(page);
        await goLive(page);
        await until(page, `${belowBottom} === 0`);
      }),
  ],
  [
    'live lines with the newest first hold still while somebody reads further down',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine), async ({ page }) => {
        await settled(page);
        await goLive(page);
        await page.locator('.log').hover();
        await page.mouse.wheel(0, 600);
        const more = page.getByRole('button', { name: /^\d+ new lines?$/ });
        await more.waitFor();
        const held = await page.evaluate<[number, string[]]>(`[scrollY, ${rowTimes}]`);
        await untilMore(page);
        assert.deepEqual(await page.evaluate(`[scrollY, ${rowTimes}]`), held);
        await more.click();
        await until(page, `scrollY === 0 && ${rowTimes}[0] > ${JSON.stringify(held[1][0])}`);
      }),
  ],
  [
    'the histogram stays while lines come, counts all of them, and leads to a part of the time',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await typeQuery(page, everyLine);
        await goLive(page);
        await untilMore(page);
        const sum = `[...document.querySelectorAll('.legend .number')].reduce((sum, { textContent }) => sum + Number(textContent), 0)`;
        await until(page, `${sum} === ${count}`);
        const bars = await page.evaluate<number>("document.querySelectorAll('.histogram .bar').length");
        assert.equal(bars, 48);
        await page.getByRole('button', { name: /^info/ }).click();
        await until(page, "document.querySelectorAll('.row:not(.level-info)').length === 0");
        await page.locator('.histogram svg').press('End');
        await page.keyboard.press('ArrowLeft');
        await page.keyboard.press('Enter');
        await settled(page);
        assert.equal(await page.locator('.live-state').count(), 0);
        assert.match(await rangeText(page), /\d to /);
      }),
  ],
  [
    'a live view whose connection is lost says so, opens it again and misses no line',
    (settings) =>
      withGate(settings, async (page, gate, faults) => {
        await goLive(page);
        const polls = countPolls(page);
        await untilMore(page);
        gate.refuses = true;
        gate.cut();
        await page.getByText('The connection is lost').waitFor();
        assert.match(await page.locator('.live-state').innerText(), /Connection lost/);
        await fitsAndReads(page);
        while (gate.upgrades.length < 3) await page.waitForTimeout(100);
        gate.refuses = false;
        await until(page, "document.querySelector('.live-state').textContent === 'Live'");
        assert.equal(await page.getByText('The connection is lost').count(), 0);
        await untilMore(page);
        assert.equal(polls(), 0);
        await expectNoGap(page);
        expectFailedSockets(faults);
      }),
  ],
  [
    'a live view notices a connection that dies without being closed, opens another one and misses no line',
    (settings) =>
      withGate(settings, async (page, gate) => {
        await goLive(page);
        await untilMore(page);
        gate.mute();
        await until(page, "document.querySelector('.live-state').textContent === 'Connection lost'");
        assert.equal(gate.upgrades.length, 1);
        await until(page, "document.querySelector('.live-state').textContent === 'Live'");
        await untilMore(page);
        assert.equal(gate.upgrades.length, 2);
        await expectNoGap(page);
      }),
  ],
  [
    'a live view of a query without lines keeps its connection',
    (settings) =>
      withGate(settings, async (page, gate) => {
        await typeQuery(page, `${everyLine} |= "nobody writes this"`);
        const polls = countPolls(page);
        await page.getByRole('button', { name: 'Live', exact: true }).click();
        while (polls() < 1) await page.waitForTimeout(100);
        await page.waitForTimeout(2_000);
        assert.equal(await page.locator('.live-state').innerText(), 'Live');
        assert.equal(gate.upgrades.length, 1);
      }),
  ],
  [
    'a live view says how many lines the server has dropped',
    (settings) =>
      withGate(settings, async (page, gate) => {
        await goLive(page);
        gate.send('{"streams":[],"dropped_entries":[{},{}]}');
        await page.getByText('2 lines dropped by the server').waitFor();
        gate.send('{"streams":[],"dropped_entries":[{}]}');
        await page.getByText('3 lines dropped by the server').waitFor();
        await fitsAndReads(page);
      }),
  ],
  [
    'where WebSockets are refused, live lines are polled until they are accepted, and the page says so',
    (settings) =>
      withGate(settings, async (page, gate, faults) => {
        gate.refuses = true;
        const polls = countPolls(page);
        await goLive(page);
        await untilMore(page);
        assert.ok(polls() > 1);
        await page.getByText('asked for every second: no WebSocket').waitFor();
        assert.equal(gate.upgrades.length, 1);
        await fitsAndReads(page);
        gate.refuses = false;
        await until(page, "!document.body.textContent.includes('asked for every second')");
        assert.equal(gate.upgrades.length, 2);
        const before = polls();
        await untilMore(page);
        assert.equal(polls(), before, 'nothing is polled any more');
        await expectNoGap(page);
        expectFailedSockets(faults);
      }),
  ],
  [
    'a query that counts lines cannot be followed, and the page says why',
    (settings) =>
      withPage(settings, wide, '', async ({ page, faults }) => {
        await typeQuery(page, `sum(rate(${everyLine}[1m]))`);
        await page.getByRole('button', { name: 'Live', exact: true }).click();
        await page.getByText('A live view is of lines: this query counts them.').waitFor();
        expectFailedSockets(faults);
      }),
  ],
  [
    'a live view sends token and tenant with its WebSocket',
    async (settings) => {
      const { page, close } = await openPage(settings.browser, settings.lockedUrl, wide);
      try {
        await page.getByLabel('Token').fill(demoToken);
        await page.keyboard.press('Enter');
        await page.locator('.query-form').waitFor();
        await typeQuery(page, everyLine);
        const polls = countPolls(page);
        await goLive(page);
        await untilMore(page);
        assert.equal(polls(), 0);
      } finally {
        await close();
      }
      const gate = await startLiveGate(settings.tenantUrl);
      try {
        await withPage({ ...settings, url: gate.url }, wide, '', async ({ page: other }) => {
          await typeQuery(other, everyLine);
          await other.getByLabel('Tenant').fill('fake');
          const polls = countPolls(other);
          await goLive(other);
          await untilMore(other);
          assert.equal(polls(), 0);
        });
        const [first] = gate.upgrades;
        const encoded = Buffer.from('fake').toString('base64url');
        assert.ok(first?.['sec-websocket-protocol']?.includes(`ref-proxy.tenant.${encoded}`));
      } finally {
        await gate.close();
      }
    },
  ],
  [
    'a live view fits at every size, in the light and in the dark',
    async (settings) => {
      for (const scheme of schemes)
        for (const size of sizes)
          await withPage(settings, { ...size, scheme }, '', async ({ page }) => {
            await typeQuery(page, everyLine);
            await goLive(page);
            await page.getByRole('button', { name: 'Newest last' }).click();
            await until(page, `${belowBottom} === 0`);
            await untilMore(page);
            await fitsAndReads(page);
            await page.locator('.log').hover();
            await page.mouse.wheel(0, -700);
            await page.locator('.new-lines').waitFor();
            if (scheme === 'dark' && size.width === 1440) await settings.picture('live-dark', page, 900);
            await fitsAndReads(page);
          });
    },
  ],
];
