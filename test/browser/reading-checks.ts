import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import {
  everyLine,
  fitsAndReads,
  hashOf,
  queryText,
  schemes,
  settled,
  sizes,
  typeQuery,
  wide,
  until,
  withPage,
  type Check,
} from './looks.js';
import { answerManyLines } from './many-lines.js';
import { startSlowAnswers } from './slow-answers.js';

const focusedLine = "document.activeElement?.querySelector('.line')?.textContent";

/** Queries generated lines and waits for the first of them. */
async function askForLines(page: Page, limit: number): Promise<void> {
  await typeQuery(page, everyLine);
  await page.evaluate(
    `location.hash = ${JSON.stringify(hashOf(everyLine, limit === 100 ? {} : { limit: String(limit) }))}`,
  );
  await page.locator('.row').first().waitFor();
  await settled(page);
}

async function press(page: Page, key: string, line: string): Promise<void> {
  await page.keyboard.press(key);
  await until(page, `${focusedLine} === ${JSON.stringify(line)}`);
  const isInSight = await page.evaluate<boolean>(`(() => {
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    const chart = document.querySelector('.outcome-body > .chart');
    const isSticky = chart !== null && getComputedStyle(chart).position === 'sticky';
    return top >= (isSticky ? chart.getBoundingClientRect().bottom : 0) - 1 && bottom <= innerHeight + 1;
  })()`);
  assert.ok(isInSight, `${key} shows the row that it goes to`);
}

const json = JSON.stringify({
  msg: 'no stock',
  user: { id: 7, tags: ['a', 'b'] },
  ok: false,
  error: 'Error: no stock\n\tat reserve (stock.js:7)\n\tat order (order.js:9)',
});

/** The row whose line contains a text. */
function rowWith(page: Page, text: string): Locator {
  return page.locator('.row', { hasText: text }).first();
}

/** Reading lines: many of them, long ones, and the fields in them. */
export const readingChecks: readonly Check[] = [
  [
    'of fifty thousand lines only those near the window are made, and keys reach each of them',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        const lines = await answerManyLines(page, 60_000);
        await askForLines(page, 5_000);
        assert.ok((await page.locator('.row').count()) <= 80);
        assert.equal(await page.locator('.row').first().getAttribute('aria-setsize'), '5000');
        await page.locator('.row-head').first().focus();
        await press(page, 'ArrowDown', 'line 1');
        await press(page, 'End', 'line 4999');
        assert.ok((await page.locator('.row').count()) <= 80);
        await until(page, "document.querySelector('.row').ariaSetSize > 5000");
        assert.equal(await page.evaluate(focusedLine), 'line 4999', 'more lines leave the focus where it is');
        await press(page, 'ArrowUp', 'line 4998');
        await press(page, 'Home', 'line 0');
        await page.keyboard.press('PageDown');
        await until(page, `/^line [1-9]\\d$/.test(${focusedLine})`);
        await page.keyboard.press('PageUp');
        await until(page, `${focusedLine} === 'line 0'`);
        await page.keyboard.press('Enter');
        assert.equal(await page.locator('.row-head').first().getAttribute('aria-expanded'), 'true');
        await press(page, 'ArrowDown', 'line 1');
        for (let loaded = 5_000; loaded < 50_000;) {
          await page.keyboard.press('End');
          await until(page, `document.querySelector('.row').ariaSetSize > ${loaded}`);
          loaded = Number(await page.locator('.row').first().getAttribute('aria-setsize'));
        }
        await press(page, 'End', 'line 49999');
        assert.match(await page.locator('.more').innerText(), /50,000 lines are shown, the most/);
        const before = lines.asked();
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        assert.equal(lines.asked(), before, 'no more are asked for');
        assert.ok((await page.locator('.row').count()) <= 80);
        await page.getByRole('button', { name: 'Show older lines only' }).click();
        await until(page, "document.querySelector('.row .line')?.textContent === 'line 49999'");
        await fitsAndReads(page);
      }),
  ],
  [
    'older lines come by scrolling, and by the button after an error',
    (settings) =>
      withPage(settings, wide, '', async ({ page, faults }) => {
        const lines = await answerManyLines(page, 60_000);
        await askForLines(page, 100);
        assert.equal(lines.asked(), 1, 'nothing is loaded unless somebody scrolls');
        await page.mouse.move(700, 600);
        await page.mouse.wheel(0, 3_000);
        await until(page, "document.querySelector('.row').ariaSetSize === '200'");
        lines.fails = true;
        await page.mouse.wheel(0, 10_000);
        await page.locator('.more .notice').waitFor();
        assert.match(await page.locator('.more .notice').innerText(), /the backend is away/);
        assert.match(faults.splice(0).join(), /503/);
        const before = lines.asked();
        await page.mouse.wheel(0, -500);
        await page.mouse.wheel(0, 5_000);
        lines.fails = false;
        await page.getByRole('button', { name: 'Load 200 older lines' }).press('Enter');
        await until(page, "document.querySelector('.row').ariaSetSize === '400'");
        assert.equal(lines.asked(), before + 1, 'scrolling does not repeat what failed');
      }),
  ],
  [
    'lines are shown while the rest of the answer is still on its way, and a stopped query ends it',
    async (settings) => {
      const slow = await startSlowAnswers(settings.url);
      try {
        await withPage({ ...settings, url: slow.url }, wide, '', async ({ page }) => {
          await typeQuery(page, everyLine);
          await page.keyboard.press('Control+Enter');
          await until(page, "document.querySelectorAll('.row').length > 10");
          assert.equal(await page.locator('.outcome').getAttribute('aria-busy'), 'true');
          assert.match(await page.locator('.more').innerText(), /Reading/);
          slow.finish();
          await settled(page);
          assert.match(await page.locator('.summary-line').innerText(), /^1,000 of /);
          await page.keyboard.press('Control+Enter');
          await until(page, "document.querySelector('.more')?.textContent.includes('Reading')");
          await page.getByRole('button', { name: /Stop|Cancel/ }).click();
          await slow.left();
        });
      } finally {
        await slow.close();
      }
    },
  ],
  [
    'the histogram stays while lines scroll, and covers none that has the focus',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await answerManyLines(page, 3_000);
        await askForLines(page, 5_000);
        await page.locator('.row-head').first().focus();
        await page.mouse.move(700, 600);
        await page.mouse.wheel(0, 2_000);
        await until(page, 'scrollY > 1500');
        const box = await page.locator('.chart').boundingBox();
        assert.ok(box !== null && box.y >= 0 && box.y < 4, JSON.stringify(box));
        await page.mouse.wheel(0, 2_000);
        await until(page, 'scrollY > 3000');
        await press(page, 'ArrowDown', 'line 1');
        await press(page, 'ArrowUp', 'line 0');
      }),
  ],
  [
    'labels that differ stand beside the lines, in their colours; each can be hidden, others can be added',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(everyLine), async ({ page }) => {
            await settled(page);
            const chips = page.locator('.row .chip:visible');
            assert.match((await chips.first().getAttribute('title')) ?? '', /^service_name: \S/);
            const colours = await page.evaluate<readonly string[]>(
              "[...document.querySelectorAll('.chip')].map(({ textContent, className }) => textContent + className)",
            );
            const values = await page.evaluate<readonly string[]>(
              "[...document.querySelectorAll('.chip')].map(({ textContent }) => textContent)",
            );
            assert.equal(new Set(colours).size, new Set(values).size, 'a value has one colour');
            await page.getByRole('button', { name: 'Columns' }).click();
            await fitsAndReads(page);
            const choice = (name: string): Locator =>
              page.locator('.columns').getByRole('button', { name, exact: true });
            await choice('service_name').click();
            assert.equal(await page.locator('.chip[title^="service_name"]').count(), 0);
            await choice('namespace').press('Enter');
            await page.keyboard.press('Escape');
            assert.equal(await choice('namespace').count(), 0);
            assert.ok((await page.locator('.chip[title^="namespace: "]').count()) > 0);
            await page.reload();
            await page.locator('.row').first().waitFor();
            await settled(page);
            assert.ok((await page.locator('.chip[title^="namespace: "]').count()) > 0, 'it is remembered');
          });
        }
      }
    },
  ],
  [
    'a long line is cut after five lines of text, and shown to its end by a button',
    async (settings) => {
      for (const size of sizes) {
        await withPage(settings, { ...size, scheme: 'light' }, '', async ({ page }) => {
          const trace = (index: number): string =>
            index === 1
              ? `Error: no stock\n${Array.from({ length: 44 }, (_, at) => `\tat f${at} (a.js:${at})`).join('\n')}`
              : `line ${index}`;
          await answerManyLines(page, 50, trace);
          await askForLines(page, 100);
          const row = rowWith(page, 'no stock');
          const heightOf = async (): Promise<number> => (await row.boundingBox())?.height ?? 0;
          const cut = await heightOf();
          assert.ok(cut < 190, `${cut}`);
          await fitsAndReads(page);
          if (size.width === 1440) await settings.picture('cut', page, 640);
          await row.getByRole('button', { name: 'Show 40 more lines' }).click();
          await row.getByRole('button', { name: 'Show fewer lines' }).waitFor();
          assert.ok((await heightOf()) > 40 * 18);
          const [above, below] = [await row.boundingBox(), await rowWith(page, 'line 2').boundingBox()];
          assert.ok(above !== null && below !== null && below.y >= above.y + above.height - 1);
          await row.getByRole('button', { name: 'Show fewer lines' }).click();
          await until(
            page,
            `document.querySelectorAll('.row')[1].getBoundingClientRect().height < ${cut + 2}`,
          );
        });
      }
    },
  ],
  [
    'an open row shows JSON as a tree that folds and filters, without a parser in the query',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, '', async ({ page }) => {
            await answerManyLines(page, 3, (index) => (index === 0 ? json : `a=1 b="x\\ny" line=${index}`));
            await askForLines(page, 100);
            await page.locator('.row-head').first().press('Enter');
            const details = page.locator('.row-details').first();
            const trace = details.locator('.label-value', { hasText: 'at reserve' });
            assert.match(await trace.innerText(), /^Error: no stock\n\s+at reserve \(stock.js:7\)\n/);
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('json', page, 900);
            const user = details.locator('details', { hasText: 'user' }).first();
            await user.locator('summary').first().press('Enter');
            assert.equal(await user.getAttribute('open'), null);
            await user.locator('summary').first().press('Enter');
            await details.getByRole('button', { name: 'Raw' }).press('Enter');
            assert.equal(await details.locator('.line-text').innerText(), json);
            await fitsAndReads(page);
            await details.getByRole('button', { name: 'Formatted' }).press('Enter');
            await details.getByRole('button', { name: 'Only lines with user_id = 7' }).press('Enter');
            await until(page, `decodeURIComponent(location.hash).includes('user_id')`);
            await settled(page);
            assert.equal(await queryText(page), `${everyLine} | json | user_id="7"`);
            const second = page.locator('.row-head').nth(1);
            await second.press('Enter');
            const table = page.locator('.row', { has: page.locator('[aria-expanded="true"]') }).last();
            assert.equal(await table.locator('.fields .label-value').nth(1).innerText(), 'x\ny');
            await table.getByRole('button', { name: 'No lines with line = 1' }).press('Enter');
            await until(page, `decodeURIComponent(location.hash).includes('logfmt')`);
            await settled(page);
            assert.match(await queryText(page), / \| logfmt \| line!="1"$/);
          });
        }
      }
    },
  ],
];
