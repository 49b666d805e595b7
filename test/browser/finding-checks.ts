import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import {
  everyLine,
  fitsAndReads,
  hashOf,
  queryText,
  schemes,
  settled,
  sizes,
  typeQuery,
  until,
  wide,
  withPage,
  type Check,
} from './looks.js';

const textOfQuery = `document.getElementById('query').shadowRoot.querySelector('.cm-content').innerText`;

/** Shows a tab of the side panel, which is a sheet in narrow windows. */
async function openPanel(page: Page, tab: 'Fields' | 'Labels'): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) < 1024)
    await page.getByRole('button', { name: tab, exact: true }).click();
  else await page.getByRole('tab', { name: tab, exact: true }).click();
}

/** Exploring the data: fields, labels, levels, patterns and volumes. */
export const findingChecks: readonly Check[] = [
  [
    'the fields of the lines open to their most frequent values with counts, and a click keeps or drops one',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          const hash = hashOf('{service_name="checkout"}', { limit: '20' });
          await withPage(settings, { ...size, scheme }, hash, async ({ page }) => {
            await openPanel(page, 'Fields');
            const panel = page.locator('#side-body');
            const field = panel.getByRole('button', { name: /^took/ });
            await field.waitFor();
            await panel.getByLabel('Search in fields').fill('status');
            assert.equal(await field.count(), 0, 'the search narrows the fields');
            await panel.getByLabel('Search in fields').fill('');
            const level = panel.locator('.facet', { hasText: /^level/ }).first();
            await level.press('Enter');
            await panel.locator('.value').first().waitFor();
            const counts = await panel.locator('.value > .number').allInnerTexts();
            assert.ok(counts.length > 1 && counts.every((text) => /^[\d,]+$/.test(text)), counts.join(' '));
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('fields', page, 900);
            if (scheme === 'dark') return;
            await panel.getByRole('button', { name: 'Keep level = error' }).click();
            await until(page, `${textOfQuery}.includes('level="error"')`);
            await settled(page);
            assert.equal(await queryText(page), '{service_name="checkout"} | logfmt | level="error"');
          });
        }
      }
    },
  ],
  [
    'the fields of a metric query are those of its lines, and the page says so',
    (settings) =>
      withPage(settings, wide, hashOf('sum(rate({service_name="checkout"}[5m]))'), async ({ page }) => {
        const panel = page.locator('#side-body');
        await panel.getByText('This is a metric query').waitFor();
        await panel
          .locator('.facet', { hasText: /^level/ })
          .first()
          .click();
        await panel.getByRole('button', { name: 'Drop level = info' }).click();
        await until(page, `${textOfQuery}.includes('level!="info"')`);
        assert.equal(
          await queryText(page),
          'sum(rate({service_name="checkout"} | logfmt | level!="info"[5m]))',
        );
      }),
  ],
  [
    'a field with too many values to count says so, and lists values without counts',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"}'), async ({ page, faults }) => {
        const error = 'maximum number of series (500) reached for a single query';
        await page.route('**/api/top_values*', (route) => route.fulfill({ status: 400, json: { error } }));
        const panel = page.locator('#side-body');
        await panel
          .locator('.facet', { hasText: /^level/ })
          .first()
          .click();
        await panel.getByText(error).waitFor();
        await fitsAndReads(page);
        await panel.getByRole('button', { name: 'List values without counts' }).click();
        await panel.locator('.value').first().waitFor();
        // Chromium itself logs the error status.
        assert.equal(faults.splice(0).length, 1);
      }),
  ],
  [
    'labels are picked from an empty query, several values at once, and narrowed by what is picked',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, '', async ({ page }) => {
            await openPanel(page, 'Labels');
            const panel = page.locator('#side-body');
            await panel.locator('.facet', { hasText: 'service_name' }).click();
            const values = panel.getByRole('list', { name: 'Values of service_name' });
            await values.getByRole('button', { name: /^checkout/ }).click();
            await until(page, `${textOfQuery} === '{service_name="checkout"}'`);
            await until(
              page,
              "/[kM]?B$/.test(document.querySelector('#side-body .value .number')?.textContent ?? '')",
            );
            const others = await values.getByRole('button').count();
            assert.ok(others > 1, 'the label itself is not narrowed by its own matcher');
            await values.getByRole('button').filter({ hasNotText: 'checkout' }).first().press('Enter');
            await until(page, `${textOfQuery}.startsWith('{service_name=~"checkout|')`);
            await panel.getByText('2 chosen').waitFor();
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('labels', page, 900);
            await values.getByRole('button').filter({ hasNotText: 'checkout' }).first().click();
            await until(page, `${textOfQuery} === '{service_name="checkout"}'`);
            await panel.getByRole('button', { name: 'Run with these labels' }).click();
            await page.locator('.row').first().waitFor();
          });
        }
      }
    },
  ],
  [
    'labels go on while a query is wrong, and the panel stays folded when it was',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await openPanel(page, 'Labels');
        await page.locator('.side .facet').first().waitFor();
        await page.evaluate(`window.wentAway = false;
          new MutationObserver(() => { wentAway ||= document.querySelector('.side .facet') === null; })
            .observe(document.querySelector('.side'), { childList: true, subtree: true });`);
        await typeQuery(page, '{service_name=');
        await page.locator('#side-body').getByText('The query has a mistake').waitFor();
        assert.equal(await page.evaluate('wentAway'), false, 'labels stay while a query is written');
        await page.getByRole('button', { name: 'Hide fields and labels' }).click();
        await page.reload();
        await page.locator('.query-form').waitFor();
        assert.equal(await page.locator('.side').count(), 0);
        await page.getByRole('button', { name: 'Labels', exact: true }).click();
        await page.locator('.side').waitFor();
      }),
  ],
  [
    'a level in the legend is shown alone, hidden, or asked for',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine), async ({ page }) => {
        await page.locator('.legend-level').first().waitFor();
        const levelsDrawn =
          "new Set([...document.querySelectorAll('.bar rect[class]')].map((one) => one.getAttribute('class'))).size";
        assert.ok((await page.evaluate<number>(levelsDrawn)) > 1);
        const error = page.locator('.legend li', { hasText: 'error' }).first();
        await error.locator('.legend-level').click();
        assert.equal(await page.evaluate<number>(levelsDrawn), 1);
        assert.equal(await page.locator('.row:not(.level-error)').count(), 0);
        await fitsAndReads(page);
        await error.locator('.legend-level').click();
        await error.getByRole('button', { name: 'More for error' }).press('Enter');
        await fitsAndReads(page);
        await page.keyboard.press('Enter');
        await until(page, "document.querySelector('.bar .level-error') === null");
        await error.getByRole('button', { name: 'More for error' }).click();
        await page.getByRole('menuitem', { name: 'Query only error' }).click();
        await until(page, `${textOfQuery}.includes('detected_level="error"')`);
        await settled(page);
        await page
          .locator('.legend-level')
          .first()
          .click({ modifiers: ['Shift'] });
        await settled(page);
        assert.equal(await queryText(page), '{service_name=~".+"} | detected_level="error"');
      }),
  ],
  [
    'patterns have counts, shares and a line over time, and become a filter by a click',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(everyLine), async ({ page }) => {
            await page.getByRole('tab', { name: 'Patterns' }).press('Enter');
            await page.locator('.pattern-text').first().waitFor();
            assert.match(await page.locator('.patterns tbody td.number').nth(1).innerText(), /^[\d.]+%$/);
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('patterns', page, 800);
            if (size.width !== 1440 || scheme === 'dark') return;
            await page
              .getByRole('button', { name: /^Keep lines of this pattern/ })
              .first()
              .click();
            await until(page, `${textOfQuery}.includes('|> "')`);
            await settled(page);
            await page.locator('.row').first().waitFor();
            await page.getByRole('tab', { name: 'Patterns' }).click();
            await page
              .getByRole('button', { name: /^Drop lines of this pattern/ })
              .first()
              .click();
            await until(page, `${textOfQuery}.includes('!> "')`);
          });
        }
      }
    },
  ],
  [
    'volumes are drawn by a label, and narrowed value by value',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(everyLine), async ({ page }) => {
            await page.getByRole('tab', { name: 'Volumes' }).press('Enter');
            await page.locator('.volumes tbody tr').first().waitFor();
            await page.locator('.plot.lines canvas').waitFor();
            assert.match(await page.locator('.volumes tbody td').first().innerText(), /B$/);
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'dark') await settings.picture('volumes-dark', page, 900);
            if (size.width !== 1440 || scheme === 'dark') return;
            await page.getByRole('button', { name: 'checkout' }).click();
            await until(page, `${textOfQuery} === '{service_name="checkout"}'`);
            await settled(page);
            await page.locator('.volumes tbody tr').first().waitFor();
            assert.notEqual(
              await page.getByRole('combobox', { name: 'Volume by' }).inputValue(),
              'service_name',
            );
          });
        }
      }
    },
  ],
  [
    'the axis of an answer over days has days, with their names',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine, { range: '7d' }), async ({ page }) => {
        await page.locator('.histogram .axes text').first().waitFor();
        const texts = await page.locator('.histogram .axes text').allTextContents();
        const days = texts.filter((text) => /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ \w{3}$/.test(text));
        assert.ok(days.length >= 6, texts.join(' '));
        await fitsAndReads(page);
        await settings.picture('days', page, 440);
      }),
  ],
];
