import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import {
  fitsAndReads,
  hashOf,
  queryText,
  schemes,
  settled,
  sizes,
  until,
  wide,
  withPage,
  type Check,
} from './looks.js';

const slow = '{service_name=~".+"} | logfmt | level="info" | took > 250ms';
/** A query that is in no cache yet. */
function ratio(seconds: number): string {
  const rate = (stages: string): string => `sum(rate({service_name=~".+"}${stages}[${seconds}s]))`;
  return `${rate(' | json | status="500" ')} / ${rate('')}`;
}

async function openPlan(page: Page): Promise<void> {
  await settled(page);
  await page.getByRole('tab', { name: /Plan/ }).press('Enter');
  await page.locator('.flow').first().waitFor();
  await until(
    page,
    "!document.querySelector('.plan').textContent.includes('…ms') && !document.querySelector('.cost').textContent.includes('…')",
  );
}

/** The plan of a query: its diagram, its figures, its hints, and a second plan for comparison. */
export const planChecks: readonly Check[] = [
  [
    'the plan is a picture from VictoriaLogs to the answer, with figures at the arrow, and reads at every size',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(slow), async ({ page }) => {
            await openPlan(page);
            // The layout is based on a list, in the order in which rows flow.
            assert.deepEqual(await page.locator('.flow > li h3').allInnerTexts(), [
              'VictoriaLogs',
              'Proxy',
              'Answer',
            ]);
            assert.match(await page.locator('.flow-arrow').innerText(), /rows?, .*B, \d+ calls?, .* ms/);
            const text = await page.locator('.plan').innerText();
            for (const part of [
              'VictoriaLogs finds candidate lines',
              'No label narrows the search',
              '| logfmt',
            ])
              assert.ok(text.includes(part), part);
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('plan', page, 900);
            for (const summary of await page.locator('.plan summary').all()) await summary.press('Enter');
            await page.getByText('VictoriaLogs narrows the rows down').first().waitFor();
            assert.match(await page.locator('.experts').innerText(), /count_over_time/);
            await fitsAndReads(page);
          });
        }
      }
    },
  ],
  [
    'a label of many stored fields is one line of the plan, with the whole LogsQL one click away',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="storefront"} |= "e"'), async ({ page }) => {
        await openPlan(page);
        const lines = page.locator('.conditions').first().locator('li');
        assert.match(await lines.first().innerText(), /storefront[^]*\(in \d+ stored fields\)/);
        assert.equal(await lines.count(), 2);
        assert.equal(await page.locator('.flow .listing').isVisible(), false);
        await page.getByText('Full LogsQL').click();
        assert.match(await page.locator('.flow .listing').innerText(), /storefront[\s\S]* or /);
        await page.getByTitle('Copy the LogsQL').waitFor();
      }),
  ],
  [
    'each part of a binary operation is a lane of its own, with the candidates of the engine behind a fold',
    async (settings) => {
      let seconds = 60;
      for (const size of sizes) {
        for (const scheme of schemes) {
          seconds += 1;
          await withPage(settings, { ...size, scheme }, hashOf(ratio(seconds)), async ({ page }) => {
            await openPlan(page);
            assert.equal(await page.locator('.flow-lane-name').count(), 2);
            assert.match(await page.locator('.flow-lane').last().innerText(), /Joins the 2 parts/);
            await page.locator('.candidates summary').first().click();
            const candidates = await page.locator('.candidates').first().innerText();
            for (const part of ['Used', 'Estimated: ', 'Took: '])
              assert.ok(candidates.includes(part), candidates);
            await fitsAndReads(page);
          });
        }
      }
    },
  ],
  [
    'a hint that rewrites the query runs it in one click',
    (settings) =>
      withPage(
        settings,
        wide,
        hashOf('sum(sum by (service_name) (rate({service_name="storefront"}[1m])))'),
        async ({ page }) => {
          await openPlan(page);
          await page.getByRole('button', { name: 'Run it rewritten' }).click();
          await settled(page);
          assert.match(await queryText(page), /^sum\(rate\(\{service_name="storefront"\}\[1m\]\)\)$/);
        },
      ),
  ],
  [
    'two plans stand side by side with their differences, the other one typed or taken from the history',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(slow), async ({ page }) => {
            await openPlan(page);
            await page.getByRole('button', { name: 'Compare with' }).press('Enter');
            // The field has the focus.
            await page.keyboard.insertText('{service_name="storefront"} | logfmt | level="info"');
            await page.keyboard.press('Enter');
            await page.locator('.compared').waitFor();
            const table = await page.locator('.compared').innerText();
            assert.match(table, /Rows from VictoriaLogs\s+[\d,]+\s+[\d,]+\s+(?:same|[−+])/);
            assert.equal(await page.locator('.plans-beside .flow').count(), 2);
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('plan-compare', page, 1100);
          });
        }
      }
      await withPage(settings, wide, hashOf(slow), async ({ page }) => {
        await settled(page);
        const other = '{service_name="storefront"} |= "e"';
        await page.goto(`${settings.url}/#${hashOf(other)}`);
        await until(
          page,
          "document.querySelector('.summary-line')?.textContent !== undefined && document.querySelector('#query')?.shadowRoot?.textContent.includes('storefront')",
        );
        await openPlan(page);
        await page.getByRole('button', { name: 'Compare with' }).click();
        await page.getByLabel('From the history').selectOption(slow);
        await page.locator('.compared').waitFor();
        await page.getByRole('button', { name: 'Use this one' }).click();
        await settled(page);
        assert.equal(await queryText(page), slow);
      });
    },
  ],
  [
    'another query that is wrong is told with the server’s text, and the plan stays',
    (settings) =>
      withPage(settings, wide, hashOf(slow), async ({ page, faults }) => {
        await openPlan(page);
        await page.getByRole('button', { name: 'Compare with' }).click();
        await page.keyboard.insertText('{a=');
        await page.keyboard.press('Enter');
        await page.locator('.compare [role="alert"]').waitFor();
        assert.match(await page.locator('.compare [role="alert"]').innerText(), /parse error/);
        assert.equal(await page.locator('.flow').count(), 1);
        assert.equal(faults.length, 1);
        faults.length = 0;
      }),
  ],
];
