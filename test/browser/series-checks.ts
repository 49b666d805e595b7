import assert from 'node:assert/strict';
import { dark, fitsAndReads, hashOf, typeQuery, wide, withPage, type Check } from './looks.js';

const perService = 'sum by (service_name) (rate({service_name=~".+"}[5m]))';
const perLevel = 'sum by (detected_level) (count_over_time({service_name=~".+"}[5m]))';

/** Series: lines, values under the pointer, many of them. */
export const seriesChecks: readonly Check[] = [
  [
    'a metric query runs by the keyboard: lines, values beside the cursor, a table',
    (settings) =>
      withPage(settings, dark, '', async ({ page }) => {
        await typeQuery(page, perService);
        await page.keyboard.press('Control+Enter');
        await page.locator('.lines path.series').first().waitFor();
        assert.equal(await page.locator('.lines path.series').count(), 5);
        assert.equal(await page.locator('tbody tr').count(), 5);
        await page.locator('.lines svg').press('ArrowLeft');
        assert.equal(await page.locator('.chart-tip li').count(), 5);
        await fitsAndReads(page);
        const svg = page.locator('.lines svg');
        await svg.hover({ position: { x: 600, y: 120 } });
        const [tip, chart] = [await page.locator('.chart-tip').boundingBox(), await svg.boundingBox()];
        assert.ok(tip !== null && chart !== null);
        assert.ok(tip.y >= 0 && tip.y + tip.height <= 900, 'on the screen');
        const beside = Math.min(Math.abs(tip.x - chart.x - 600), Math.abs(tip.x + tip.width - chart.x - 600));
        assert.ok(beside < 40, 'beside the pointer');
        await settings.picture('series-dark', page, 760);
      }),
  ],
  [
    'a level has one colour in rows, bars and series',
    (settings) =>
      withPage(settings, wide, hashOf(perLevel), async ({ page }) => {
        const colour = (selector: string, property: string): Promise<string> =>
          page.evaluate<string>(
            `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`,
          );
        await page.locator('path.level-error').waitFor();
        const inSeries = await colour('path.level-error', 'stroke');
        await typeQuery(page, '{service_name=~".+"} | detected_level="error"');
        await page.keyboard.press('Control+Enter');
        await page.locator('.row.level-error').first().waitFor();
        assert.equal(await colour('.row.level-error', 'borderLeftColor'), inSeries);
        assert.equal(await colour('.bar .level-error', 'fill'), inSeries);
        assert.equal(await colour('.legend .level-error .swatch', 'backgroundColor'), inSeries);
      }),
  ],
  [
    'of five hundred series the page says at the top which are drawn, finds some, and draws one alone',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        const now = Math.floor(Date.now() / 15_000) * 15;
        const result = Array.from({ length: 500 }, (_, index) => ({
          metric: { pod: `pod-${index}`, team: index % 2 === 0 ? 'even' : 'odd' },
          values: Array.from({ length: 200 }, (_point, step) => [
            now - 15 * (200 - step),
            String(index + (step % 7)),
          ]),
        }));
        const body = { status: 'success', data: { resultType: 'matrix', result } };
        await page.route('**/api/query_range*', (route) => route.fulfill({ json: body }));
        await typeQuery(page, perService);
        await page.keyboard.press('Control+Enter');
        await page.locator('.drawn').waitFor();
        assert.match(await page.locator('.drawn').innerText(), /^24 of 500 series are drawn/);
        assert.equal(await page.locator('path.series').count(), 24);
        assert.equal(await page.locator('tbody tr').count(), 50);
        await fitsAndReads(page);
        await page.getByLabel('Search in series').fill('pod-49 odd');
        assert.match(await page.locator('.drawn').innerText(), /^6 of 500 series/);
        await page.locator('.series-name').first().click();
        assert.equal(await page.locator('path.series').count(), 1);
        assert.match(await page.locator('.drawn').innerText(), /^Only this of 500/);
        await page.getByRole('button', { name: 'Draw all again' }).last().click();
        await fitsAndReads(page);
      }),
  ],
  [
    'an answer without series is no blank chart',
    (settings) =>
      withPage(settings, wide, hashOf('sum by (a) (rate({service_name="nobody"}[5m]))'), async ({ page }) => {
        assert.match(await page.locator('.empty').innerText(), /No series/);
        assert.equal(await page.locator('.chart').count(), 0);
        await fitsAndReads(page);
      }),
  ],
];
