import assert from 'node:assert/strict';
import {
  dark,
  everyLine,
  fitsAndReads,
  hashOf,
  openSettings,
  queryText,
  rangeText,
  settled,
  sizes,
  typeQuery,
  wide,
  until,
  withPage,
  type Check,
} from './looks.js';

/** The query: its editor, its fields, its history. */
export const editorChecks: readonly Check[] = [
  [
    'the editor colours LogQL, and offers labels, values, stages, functions and ranges',
    (settings) =>
      withPage(settings, dark, '', async ({ page }) => {
        const offered = page.locator('.cm-tooltip-autocomplete li');
        const offers = async (typed: string, wanted: RegExp): Promise<void> => {
          await page.keyboard.type(typed);
          await offered.filter({ hasText: wanted }).first().waitFor();
          // The editor ignores keys for a completion in the first moment: they might be meant for the text.
          await page.waitForTimeout(200);
        };
        await page.locator('.cm-content').click();
        await offers('{service_n', /^service_name$/);
        await page.keyboard.press('Enter');
        await offers('"che', /^checkout$/);
        await settings.picture('editor-dark', page, 330, 'kept');
        await page.keyboard.press('Enter');
        assert.equal(await queryText(page), '{service_name="checkout"}');
        await page.keyboard.press('End');
        await offers(' |', /^json/);
        await page.keyboard.press('Escape');
        await page.keyboard.type(' logfmt | ');
        await page.keyboard.press('Control+Space');
        await offers('to', /^took$/);
        await page.keyboard.press('Escape');
        await typeQuery(page, 'sum by (x) (ra');
        await page.keyboard.press('Control+Space');
        await offered.filter({ hasText: /^rate/ }).first().waitFor();
        await page.keyboard.press('Escape');
        await typeQuery(page, 'rate({service_name="checkout"}[');
        await page.keyboard.press('Control+Space');
        await offered.filter({ hasText: /^5m/ }).first().waitFor();
        const colours = await page.evaluate<number>(
          `new Set([...document.getElementById('query').shadowRoot.querySelectorAll('.cm-line span')].map((one) => getComputedStyle(one).color)).size`,
        );
        assert.ok(colours >= 3, `${colours} colours`);
      }),
  ],
  [
    'a mistake is underlined where it is, while one types',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await typeQuery(page, '{service_name="checkout"} |= order');
        await page.locator('.cm-lintRange-error').waitFor();
        assert.equal(await page.locator('.cm-lintRange-error').first().innerText(), 'order');
      }),
  ],
  [
    'a query that is refused shows the server’s text, the place, and a way to try again',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"} |= order'), async ({ page, faults }) => {
        const alert = page.locator('.failure');
        assert.match(
          await alert.innerText(),
          /parse error at line 1, col 30: syntax error: unexpected IDENTIFIER/,
        );
        assert.equal(await alert.locator('mark').innerText(), 'order');
        await fitsAndReads(page);
        await alert.getByRole('button', { name: 'Select this place' }).press('Enter');
        await page.keyboard.insertText('"order"');
        assert.equal(await queryText(page), '{service_name="checkout"} |= "order"');
        await alert.getByRole('button', { name: 'Try again' }).click();
        await page.locator('.row').first().waitFor();
        // Chromium itself logs the error status.
        assert.deepEqual(faults.splice(0), [
          'Failed to load resource: the server responded with a status of 400 (Bad Request)',
        ]);
      }),
  ],
  [
    'a query is laid out, and found again in the history',
    async (settings) => {
      for (const size of sizes) {
        await withPage(settings, { ...size, scheme: 'light' }, '', async ({ page }) => {
          await typeQuery(page, '{service_name="checkout"}');
          await page.getByRole('button', { name: 'Run', exact: true }).click();
          await page.locator('.row').first().waitFor();
          await typeQuery(page, '{service_name="checkout"}|="order"|logfmt');
          if (size.width === 390) await openSettings(page);
          await page.getByRole('button', { name: 'Format' }).click();
          await page
            .locator('.cm-content')
            .getByText('{service_name="checkout"} |= "order" | logfmt')
            .waitFor();
          await page.getByRole('button', { name: 'History' }).click();
          await page.getByRole('dialog').getByText('{service_name="checkout"}').waitFor();
          await fitsAndReads(page);
          await page.getByRole('button', { name: 'Run this query' }).click();
          await settled(page);
          assert.equal(await queryText(page), '{service_name="checkout"}');
        });
      }
    },
  ],
  [
    'an empty query and a limit that is none are told where they are, and leave no old answer',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine, { limit: '5' }), async ({ page }) => {
        await page.locator('.row').first().waitFor();
        // While a response is loading, Enter in a field does nothing.
        await settled(page);
        await openSettings(page);
        await page.getByLabel('Limit').fill('0');
        await page.getByLabel('Limit').press('Enter');
        assert.match(await page.locator('.problem').innerText(), /from 1 to 5,000/);
        assert.equal(await page.getByLabel('Limit').inputValue(), '0');
        assert.equal(await page.locator('.row').count(), 0);
        await fitsAndReads(page);
        await page.getByLabel('Limit').fill('5');
        await typeQuery(page, ' ');
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        assert.match(await page.locator('.problem').innerText(), /Write a query first/);
        await page.locator('.example').first().click();
        await page.locator('.row').first().waitFor();
        assert.equal(await page.locator('.problem').count(), 0);
      }),
  ],
  [
    'a query that takes long says for how long, and can be ended',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await page.route('**/api/query_range*', () => undefined);
        await typeQuery(page, everyLine);
        await page.keyboard.press('Control+Enter');
        const cancel = page.getByRole('button', { name: /Cancel/ });
        await until(page, "/[1-9]|0\\.[1-9]/.test(document.querySelector('.elapsed')?.textContent ?? '')");
        await fitsAndReads(page);
        const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('query_range'));
        await cancel.click();
        await ended;
        await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
        await settled(page);
      }),
  ],
  [
    'an address holds the whole query, and the way back leads to the one before',
    (settings) =>
      withPage(
        settings,
        wide,
        hashOf(everyLine, { range: '15m', limit: '5', direction: 'forward' }),
        async ({ page }) => {
          await page.locator('.row').first().waitFor();
          assert.equal(await page.locator('.row').count(), 5);
          assert.match(await rangeText(page), /Last 15 minutes/);
          await openSettings(page);
          assert.equal(await page.getByLabel('Order').inputValue(), 'forward');
          const times = await page.locator('.row time').allTextContents();
          assert.deepEqual(times, [...times].sort());
          await typeQuery(page, 'sum(rate({service_name=~".+"}[5m]))');
          await page.getByRole('button', { name: 'Run', exact: true }).press('Enter');
          await page.locator('.plot.lines canvas').waitFor();
          assert.ok(page.url().includes('sum%28rate'));
          await page.goBack();
          await page.locator('.row').first().waitFor();
          assert.equal(await queryText(page), everyLine);
        },
      ),
  ],
];
