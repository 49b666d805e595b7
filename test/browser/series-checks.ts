import assert from 'node:assert/strict';
import {
  dark,
  everyLine,
  fitsAndReads,
  hashOf,
  schemes,
  settled,
  sizes,
  typeQuery,
  until,
  wide,
  withPage,
  type Check,
} from './looks.js';

const perService = 'sum by (service_name) (rate({service_name=~".+"}[5m]))';
const perLevel = 'sum by (detected_level) (count_over_time({service_name=~".+"}[5m]))';

/** Series: lines, values at the pointer, large numbers of series. */
export const seriesChecks: readonly Check[] = [
  [
    'a metric query runs by the keyboard: lines, values beside the cursor, a table',
    (settings) =>
      withPage(settings, dark, '', async ({ page }) => {
        await typeQuery(page, perService);
        await page.keyboard.press('Control+Enter');
        await page.locator('.lines canvas').waitFor();
        assert.equal(await page.locator('tbody .swatch:not(.is-void)').count(), 5);
        assert.equal(await page.locator('tbody tr').count(), 5);
        // A rate is per second; the page requests the unit in addition to the series.
        await page.locator('tbody td').first().filter({ hasText: /\/s$/ }).waitFor();
        await page.locator('.plot.lines').press('ArrowLeft');
        assert.equal(await page.locator('.chart-tip li').count(), 5);
        await fitsAndReads(page);
        const plot = page.locator('.plot.lines');
        await plot.hover({ position: { x: 600, y: 120 } });
        const [tip, chart] = [await page.locator('.chart-tip').boundingBox(), await plot.boundingBox()];
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
        await page.locator('tbody .swatch.level-error').waitFor();
        const inSeries = await colour('tbody .swatch.level-error', 'backgroundColor');
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
        const swatches = page.locator('tbody .swatch:not(.is-void)');
        assert.equal(await swatches.count(), 24);
        assert.equal(await page.locator('tbody tr').count(), 50);
        await fitsAndReads(page);
        await page.getByLabel('Search in series').fill('pod-49 odd');
        assert.match(await page.locator('.drawn').innerText(), /^6 of 500 series/);
        await page.locator('.series-name').first().click();
        assert.equal(await swatches.count(), 1);
        assert.match(await page.locator('.drawn').innerText(), /^Only this of 500/);
        await page.getByRole('button', { name: 'Draw all again' }).last().click();
        await page
          .getByRole('button', { name: /^Hide \{/ })
          .first()
          .click();
        assert.match(await page.locator('.drawn').innerText(), /^5 of 500 series/);
        await fitsAndReads(page);
      }),
  ],
  [
    'series are drawn as lines, stacked or as bars, on a logarithmic scale, and a part of them is zoomed to',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(perService), async ({ page }) => {
            await page.locator('.lines canvas').waitFor();
            const painted = "document.querySelector('.lines canvas')?.toDataURL()";
            const seen = [await page.evaluate<string>(painted)];
            for (const form of ['Log scale', 'Stacked', 'Bars']) {
              await page.getByRole('button', { name: form, exact: true }).click();
              // Each form renders a different image.
              await until(
                page,
                `!${JSON.stringify(seen)}.includes(${painted} ?? ${JSON.stringify(seen[0])})`,
              );
              seen.push(await page.evaluate<string>(painted));
            }
            await fitsAndReads(page);
            if (size.width !== 1440) return;
            const plot = page.locator('.plot.lines');
            const box = await plot.boundingBox();
            assert.ok(box !== null);
            await page.mouse.move(box.x + 400, box.y + 100);
            await page.mouse.down();
            await page.mouse.move(box.x + 600, box.y + 110, { steps: 4 });
            await page.mouse.up();
            await until(page, "location.hash.includes('range=custom')");
            await settled(page);
            await page.locator('.lines canvas').waitFor();
            const before = page.url();
            await page.locator('.plot.lines').press('End');
            for (let step = 0; step < 12; step++) await page.keyboard.press('Shift+ArrowLeft');
            await page.keyboard.press('Enter');
            await until(page, `location.href !== ${JSON.stringify(before)}`);
          });
        }
      }
    },
  ],
  [
    'the drawing of charts is loaded with the first chart, and where it cannot be, the table stays',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine), async ({ page, faults }) => {
        const files: string[] = [];
        await page.route('**/uplot.js', (route) => {
          files.push(route.request().url());
          return route.fulfill({ status: 503, body: '' });
        });
        await page.locator('.row').first().waitFor();
        assert.deepEqual(files, []);
        await typeQuery(page, perService);
        await page.keyboard.press('Control+Enter');
        await page.getByText('The chart could not be loaded').waitFor();
        assert.equal(files.length, 1);
        assert.equal(await page.locator('tbody tr').count(), 5);
        assert.match(String(faults.splice(0)), /^Failed to load resource: [^,]*503[^,]*$/);
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
