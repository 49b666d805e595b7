import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import {
  askedTimes,
  everyLine,
  fitsAndReads,
  hashOf,
  openSettings,
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

const minute = 60_000;

/** The control bar: time range, settings, ways out of errors and empty answers, sharing, keyboard shortcuts. */
export const barChecks: readonly Check[] = [
  [
    'a range is picked, written, moved and widened, and the page’s address has it',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(everyLine), async ({ page }) => {
            await page.locator('.row').first().waitFor();
            await page.locator('.time-button').click();
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('time', page, 640, 'kept');
            await page.getByRole('button', { name: 'Last 2 days' }).click();
            await until(page, "location.href.includes('range=2d')");
            await settled(page);
            await page.locator('.time-button').click();
            await page.getByLabel('From', { exact: true }).fill('now-90m');
            await page.getByLabel('From', { exact: true }).press('Enter');
            await until(page, "location.href.includes('from=now-90m&to=now')");
            await settled(page);
            await page.locator('.time-button').click();
            await changesAddress(page, () => page.getByRole('button', { name: 'Earlier' }).click());
            await settled(page);
            const [from, to] = askedTimes(page);
            assert.ok(to < Date.now() - 44 * minute && from < Date.now() - 134 * minute, page.url());
            await changesAddress(page, () => page.getByRole('button', { name: 'Zoom out' }).click());
            await settled(page);
            const [wideFrom, wideTo] = askedTimes(page);
            assert.equal(wideTo - wideFrom, 2 * (to - from));
            await page.getByLabel('From', { exact: true }).fill('yesterday');
            assert.ok(await page.getByRole('button', { name: 'Apply range' }).isDisabled());
            await page.keyboard.press('Escape');
            assert.equal(await page.locator('.popover-panel').count(), 0);
          });
        }
      }
    },
  ],
  [
    'keys move the time, run, follow lines and change the view, never while someone types',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"}'), async ({ page }) => {
        await page.locator('.row').first().waitFor();
        const pressed = async (key: string): Promise<readonly [from: number, to: number]> => {
          await changesAddress(page, () => page.keyboard.press(key));
          await settled(page);
          return askedTimes(page);
        };
        const [from, to] = await pressed('[');
        assert.ok(to < Date.now() - 29 * minute && to > Date.now() - 32 * minute, 'half an hour earlier');
        assert.deepEqual(await pressed('['), [from - 30 * minute, to - 30 * minute]);
        assert.deepEqual(await pressed(']'), [from, to]);
        const [wideFrom, wideTo] = await pressed('z');
        assert.equal(wideTo - wideFrom, 2 * (to - from));
        await page.keyboard.press('g');
        await page.keyboard.press('p');
        await page.locator('.way .stage-name').first().waitFor();
        await page.keyboard.press('g');
        await page.keyboard.press('q');
        await page.locator('.query-form').waitFor();
        await page.keyboard.press('?');
        const help = page.getByRole('dialog');
        assert.match(await help.innerText(), /Half a range earlier/);
        await fitsAndReads(page);
        await page.keyboard.press('Escape');
        await page.keyboard.press('/');
        await until(page, "document.activeElement?.id === 'query'");
        await page.keyboard.type('?');
        assert.equal(await help.count(), 0);
        assert.ok((await queryText(page)).includes('?'));
      }),
  ],
  [
    'settings that differ from the defaults stand on their button, and on a telephone one row comes before the lines',
    (settings) =>
      withPage(
        settings,
        { width: 390, height: 844, scheme: 'light' },
        hashOf(everyLine, { limit: '7', direction: 'forward' }),
        async ({ page }) => {
          await page.locator('.row').first().waitFor();
          const controls = await page.locator('.controls').boundingBox();
          assert.ok(controls !== null && controls.height < 50, JSON.stringify(controls));
          assert.match(await page.locator('.actions .chip').innerText(), /7 lines/);
          await openSettings(page);
          await fitsAndReads(page);
        },
      ),
  ],
  [
    'an answer without lines says which filter left them out or which value is misspelt, and one click mends it',
    async (settings) => {
      const look = wide;
      await withPage(
        settings,
        look,
        hashOf('{service_name="storefront"} | json | duration_msec > 5'),
        async ({ page }) => {
          const reason = page.locator('.reason');
          await reason.waitFor();
          assert.match(
            await reason.innerText(),
            /has the field duration_msec\. Fields that exist: .*duration_ms/,
          );
          await fitsAndReads(page);
          await settings.picture('empty', page, 520);
          await reason.getByRole('button', { name: 'Use duration_ms' }).click();
          await page.locator('.row').first().waitFor();
          assert.match(await queryText(page), /duration_ms>5/);
        },
      );
      await withPage(settings, look, hashOf('{service_name="chekout"}'), async ({ page }) => {
        await page.locator('.reason').waitFor();
        await fitsAndReads(page);
        await page.locator('.reason').getByRole('button', { name: 'checkout' }).click();
        await page.locator('.row').first().waitFor();
        assert.equal(await queryText(page), '{service_name="checkout"}');
      });
    },
  ],
  [
    'a query with too many series offers a sum, and its plan is there although it failed',
    (settings) =>
      withPage(settings, wide, '', async ({ page, faults }) => {
        const text =
          'maximum number of series (500) reached for a single query; consider reducing query cardinality';
        await page.route('**/api/query_range*', (route) =>
          route.request().url().includes('sum+by')
            ? route.continue()
            : route.fulfill({ status: 400, contentType: 'text/plain', body: text }),
        );
        await typeQuery(page, 'rate({service_name=~".+"}[5m])');
        await page.keyboard.press('Control+Enter');
        await page.getByRole('tab', { name: 'Plan' }).click();
        await page.locator('.plan').waitFor();
        await page.getByRole('tab', { name: 'Error' }).click();
        await fitsAndReads(page);
        await settings.picture('error', page, 440);
        await page.getByRole('button', { name: 'Sum by service_name' }).click();
        await page.locator('.plot canvas').first().waitFor();
        assert.match(await queryText(page), /^sum by \(service_name\)/);
        assert.deepEqual(faults.splice(0), [
          'Failed to load resource: the server responded with a status of 400 (Bad Request)',
        ]);
      }),
  ],
  [
    'Enter in a field runs the query with it, also while one runs, which ends then',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"}'), async ({ page }) => {
        await page.locator('.row').first().waitFor();
        const asked: string[] = [];
        const ended: string[] = [];
        const limitOf = (url: string): string => new URL(url).searchParams.get('limit') ?? '';
        page.on('requestfailed', (request) => {
          if (request.url().includes('query_range')) ended.push(limitOf(request.url()));
        });
        await page.route('**/api/query_range*', async (route) => {
          asked.push(limitOf(route.request().url()));
          // The first requests never get a response.
          if (asked.at(-1) === '7') await route.continue();
        });
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await page.getByRole('button', { name: 'Cancel' }).waitFor();
        for (const limit of ['5', '7']) {
          await openSettings(page);
          await page.getByLabel('Limit').fill(limit);
          await page.keyboard.press('Enter');
          await page.locator('.popover-panel').waitFor({ state: 'detached' });
        }
        await settled(page);
        await until(page, "document.querySelectorAll('.row').length === 7");
        assert.deepEqual([...new Set(asked)], ['100', '5', '7']);
        for (const limit of ['100', '5'])
          assert.ok(ended.includes(limit), `the run of ${limit} lines has ended`);
        await page.locator('.time-button').click();
        await page.getByLabel('From', { exact: true }).fill('now-2h');
        await page.keyboard.press('Enter');
        await until(page, "location.hash.includes('from=now-2h')");
        await settled(page);
      }),
  ],
  [
    'a range variable that nobody filled in, and a selector that could match nothing, are mended by a click',
    (settings) =>
      withPage(settings, wide, '', async ({ page, faults }) => {
        const refused = 'Failed to load resource: the server responded with a status of 400 (Bad Request)';
        const run = async (query: string): Promise<void> => {
          await typeQuery(page, query);
          await page.keyboard.press('Control+Enter');
          await page.locator('.failure').waitFor();
        };
        await run(
          'sum(rate({service_name="checkout"}[$__auto])) / sum(rate({service_name="payments"}[$__auto]))',
        );
        await fitsAndReads(page);
        await page.getByRole('button', { name: 'Use [1m]', exact: true }).click();
        await page.locator('.plot canvas').first().waitFor();
        assert.equal((await queryText(page)).match(/\[1m\]/g)?.length, 2);
        await run('{service_name=~".*"} |= "error"');
        await page.getByRole('button', { name: 'Any service_name: service_name=~".+"' }).click();
        await page.locator('.row').first().waitFor();
        assert.equal(await queryText(page), '{service_name=~".+"} |= "error"');
        await run('{}');
        await page.getByRole('button', { name: 'Choose labels' }).click();
        await page
          .locator('.side')
          .getByRole('button', { name: /^service_name/ })
          .click();
        await page
          .locator('.side')
          .getByRole('button', { name: /^payments/ })
          .click();
        await until(
          page,
          `document.querySelector('.browser-query')?.textContent === '{service_name="payments"}'`,
        );
        await page.getByRole('button', { name: 'Run with these labels' }).click();
        await page.locator('.row').first().waitFor();
        assert.deepEqual(new Set(faults.splice(0)), new Set([refused]));
      }),
  ],
  [
    'a query is copied as a command and saved under a name, and without Grafana the page says how to configure it',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"}'), async ({ page }) => {
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.locator('.row').first().waitFor();
        await page.getByRole('button', { name: 'Share', exact: true }).click();
        assert.match(await page.locator('.share').innerText(), /-ui\.grafana-url/);
        await fitsAndReads(page);
        await settings.picture('share', page, 520, 'kept');
        await page.getByRole('button', { name: 'Copy as logcli' }).click();
        await page.getByText('Copied').first().waitFor();
        assert.match(
          await page.evaluate<string>('navigator.clipboard.readText()'),
          /^logcli query [\s\S]*-- '\{service_name="checkout"\}'$/,
        );
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'History' }).click();
        await page.getByRole('button', { name: 'Saved' }).click();
        await page.getByLabel('Name').fill('orders');
        await page.getByRole('button', { name: 'Save this query' }).click();
        await page.locator('.past').getByText('orders').waitFor();
        await fitsAndReads(page);
        await page.getByRole('button', { name: 'Delete orders' }).click();
        assert.equal(await page.locator('.past').count(), 0);
      }),
  ],
  [
    'the failed deployment of the demo is found from an empty page in at most twelve clicks: service, error and trace',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        let clicks = 0;
        const click = async (target: Locator): Promise<void> => {
          clicks += 1;
          await target.click();
        };
        await click(page.locator('.example', { hasText: 'Warnings and errors' }));
        await page.locator('.bar .level-error').first().waitFor();
        // While lines arrive, the bars count only those received so far.
        await settled(page);
        // The red peak is tall; a click on its bar selects just that minute.
        const peak = await page.evaluate<{ readonly x: number; readonly y: number }>(`(() => {
          const bars = [...document.querySelectorAll('.bar .level-error')].map((bar) => bar.getBoundingClientRect());
          const tallest = bars.sort((a, b) => b.height - a.height)[0];
          return { x: tallest.x + tallest.width / 2, y: tallest.y + tallest.height / 2 };
        })()`);
        clicks += 1;
        await page.mouse.move(peak.x, peak.y);
        await page.mouse.down();
        await page.locator('.chart-tip').waitFor();
        await page.mouse.up();
        await until(page, "location.hash.includes('range=custom')");
        await settled(page);
        const failed = page.locator('.row', { hasText: 'connection pool exhausted' }).first();
        await click(failed.locator('.row-head'));
        assert.match(await page.locator('.row-labels').innerText(), /service_name[\s\S]*payments/);
        const trace = /trace_id=([0-9a-f]{32})/.exec(await failed.innerText())?.[1] ?? '';
        assert.notEqual(trace, '');
        clicks += 1;
        await typeQuery(page, `{service_name=~".+"} |= "${trace}"`);
        await click(page.getByRole('button', { name: 'Run', exact: true }));
        await settled(page);
        await until(page, `[...document.querySelectorAll('.row')].length >= 3`);
        const rows = await page.locator('.outcome').innerText();
        for (const part of ['pool exhausted', 'payment failed', 'upstream request failed'])
          assert.ok(rows.includes(part), part);
        assert.ok(clicks <= 12, `${clicks} clicks`);
      }),
  ],
];

async function changesAddress(page: Page, act: () => Promise<void>): Promise<void> {
  const before = page.url();
  await act();
  await until(page, `location.href !== ${JSON.stringify(before)}`);
}
