import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { isInEditor } from './in-page.js';
import {
  dark,
  everyLine,
  fitsAndReads,
  hashOf,
  queryText,
  rangeText,
  settled,
  wide,
  until,
  withPage,
  type Check,
} from './looks.js';

/** The numbers in a text, without commas. */
function numbers(text: string): readonly number[] {
  return (text.match(/[\d,]+/g) ?? []).map((found) => Number(found.replaceAll(',', '')));
}

async function legendSum(page: Page): Promise<number> {
  const texts = await page.locator('.legend .number').allInnerTexts();
  return texts.flatMap(numbers).reduce((sum, value) => sum + value, 0);
}

const textOfQuery = `document.getElementById('query').shadowRoot.querySelector('.cm-content').innerText`;

/** Lines: their actions, their histogram, their plan. */
export const lineChecks: readonly Check[] = [
  [
    'a log query runs by the keyboard alone: rows, labels, bars',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await page.locator('#query .cm-content').waitFor();
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await until(page, isInEditor);
        await page.keyboard.insertText(everyLine);
        await page.keyboard.press('Control+Enter');
        await page.locator('.row').first().waitFor();
        await settled(page);
        assert.equal(await page.locator('.row').first().getAttribute('aria-setsize'), '100');
        const heads = page.locator('.row-head');
        await heads.first().focus();
        await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        assert.equal(await heads.nth(1).getAttribute('aria-expanded'), 'true');
        assert.match(await page.locator('.row-labels').innerText(), /service_name/);
        await page.locator('.histogram svg').press('End');
        await page.keyboard.press('ArrowLeft');
        assert.match(await page.locator('.chart-tip').innerText(), /\d\d:\d\d:\d\d to /);
        await fitsAndReads(page);
        await page.locator('.histogram svg').press('Enter');
        await settled(page);
        assert.match(await rangeText(page), /\d to /, 'a bar chosen is a range of its own');
        assert.match(await page.locator('.summary-line').innerText(), /^\d+ (of \d+ )?lines/);
        await fitsAndReads(page);
      }),
  ],
  [
    'figures agree: lines, bars, and what is said above them',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"}', { limit: '5000' }), async ({ page }) => {
        await page.locator('.legend').waitFor();
        const [lines = -1] = numbers(await page.locator('.summary-line').innerText());
        assert.equal(await legendSum(page), lines);
        assert.match(await page.locator('.more').innerText(), /No older lines up to/);
      }),
  ],
  [
    'a limit that is reached is told, and older lines can be had, each once',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine, { limit: '20' }), async ({ page }) => {
        await page.locator('.row').first().waitFor();
        await settled(page);
        assert.match(
          await page.locator('.summary-line').innerText(),
          /^20 of [\d,]+ lines\s+limit of 20 reached/,
        );
        await page.getByRole('button', { name: 'Load 20 older lines' }).press('Enter');
        await until(page, "document.querySelector('.row').ariaSetSize >= 40");
        const seen = await page.evaluate<string[]>(
          '[...document.querySelectorAll(".row-head")].map((row) => row.querySelector("time").title + row.textContent)',
        );
        assert.equal(new Set(seen).size, seen.length);
        const times = await page.evaluate<string[]>(
          '[...document.querySelectorAll(".row time")].map((time) => time.title)',
        );
        assert.deepEqual(times, [...times].sort().reverse());
      }),
  ],
  [
    'matches are marked, and what went wrong shows in a closed row',
    (settings) =>
      withPage(settings, dark, hashOf('{service_name=~".+"} |= "GET" | json'), async ({ page }) => {
        await page.locator('.row').first().waitFor();
        assert.equal(await page.locator('.row mark').first().innerText(), 'GET');
        assert.equal(await page.locator('.error-badge').first().innerText(), 'JSONParserErr');
        await page.locator('.row-head').first().click();
        await settings.picture('rows-dark', page, 900);
        await fitsAndReads(page);
      }),
  ],
  [
    'a label filters in and out, a line is copied, and shows what stands around it',
    (settings) =>
      withPage(
        settings,
        wide,
        hashOf('{service_name="checkout"} | logfmt', { limit: '30' }),
        async ({ page }) => {
          await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
          await page.locator('.row-head').first().click();
          const line = await page.locator('.row .line').first().innerText();
          await page.getByRole('button', { name: 'Copy line' }).click();
          await page.getByText('Copied').first().waitFor();
          assert.equal(await page.evaluate('navigator.clipboard.readText()'), line);
          await page.getByRole('button', { name: 'Show context' }).click();
          await page.locator('.context-row').nth(20).waitFor();
          assert.equal(await page.locator('.context-row.is-here span').innerText(), line);
          await fitsAndReads(page);
          await page.getByRole('button', { name: 'Close' }).click();
          await page
            .getByRole('button', { name: /^Only lines with msg = / })
            .first()
            .click();
          await until(page, `${textOfQuery}.includes('| msg="')`);
          await settled(page);
          assert.match(await queryText(page), /^\{service_name="checkout"\} \| logfmt \| msg="/);
          // The row stays open if it is also the first row of this response, and no newer one arrived.
          const head = page.locator('.row-head').first();
          if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
          await page
            .getByRole('button', { name: /^No lines with namespace = / })
            .first()
            .click();
          await until(page, `${textOfQuery}.includes('namespace!=')`);
          await settled(page);
          assert.match(await queryText(page), /^\{service_name="checkout", namespace!="/);
          assert.match(await page.locator('.empty').innerText(), /No lines/);
          assert.equal(await page.locator('.histogram').count(), 0, 'no blank chart');
          await fitsAndReads(page);
        },
      ),
  ],
  [
    'the plan advises a line filter where the backend cannot search for a parsed value itself',
    async (settings) => {
      const advice = 'Every line of the selection is parsed here';
      for (const [parser, isGiven] of [
        ['unpack', true],
        ['logfmt', false],
      ] as const)
        await withPage(
          settings,
          wide,
          hashOf(`{service_name=~".+"} | ${parser} | level="info"`),
          async ({ page }) => {
            await page.getByRole('tab', { name: /Plan/ }).press('Enter');
            await page.locator('.plan').getByText('No label narrows the search').waitFor();
            assert.equal((await page.locator('.plan').innerText()).includes(advice), isGiven, parser);
          },
        );
    },
  ],
];
