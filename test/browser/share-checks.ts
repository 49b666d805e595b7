import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startDemo } from './demo.js';
import { fitsAndReads, hashOf, queryText, settled, wide, withPage, type Check } from './looks.js';

const checkout = '{service_name="checkout"} |= "a \'b\' & c"';

/** Queries that refresh automatically, that are imported from a file, and that open in Grafana. */
export const shareChecks: readonly Check[] = [
  [
    'a query runs again every few seconds, not while the page is hidden, until that is switched off',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"}'), async ({ page }) => {
        await settled(page);
        await page.clock.install();
        let runs = 0;
        page.on('request', (request) => {
          if (/query_range.*query=%7Bservice/.test(request.url())) runs += 1;
        });
        const refresh = async (name: string): Promise<void> => {
          await page.locator('.time-button').click();
          await page.getByLabel('Refresh').selectOption(name);
          await page.keyboard.press('Escape');
        };
        const pass = async (seconds: number): Promise<number> => {
          await page.clock.fastForward(seconds * 1_000);
          await settled(page);
          return runs;
        };
        const hide = (isHidden: boolean): Promise<void> =>
          page.evaluate(
            `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
             document.dispatchEvent(new Event('visibilitychange'));`,
          );
        await refresh('10s');
        assert.match(page.url(), /refresh=10s/);
        assert.match(await page.locator('.time-button').innerText(), /10s/);
        assert.equal(await pass(9), 0);
        assert.equal(await pass(2), 1);
        assert.equal(await pass(10), 2);
        await hide(true);
        assert.equal(await pass(60), 2);
        // A query that was due runs immediately when the page becomes visible again.
        await hide(false);
        await settled(page);
        assert.equal(await pass(1), 3);
        await refresh('off');
        assert.equal(await pass(60), 3);
      }),
  ],
  [
    'saved queries are taken from a file, and a file that has none is told as such',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await page.getByRole('button', { name: 'History' }).click();
        await page.getByRole('button', { name: 'Saved' }).click();
        const take = async (text: string): Promise<void> => {
          const [chooser] = await Promise.all([
            page.waitForEvent('filechooser'),
            page.getByRole('button', { name: 'Import' }).click(),
          ]);
          const buffer = Buffer.from(text);
          await chooser.setFiles({ name: 'queries.json', mimeType: 'application/json', buffer });
        };
        await take('{"not": "a list"}');
        await page.getByText('This file has no saved queries.').waitFor();
        const saved = { name: 'Slow orders', query: '{service_name="checkout"} |= "order"', tenant: '' };
        await take(JSON.stringify([saved, { name: 'without a query' }, { ...saved, name: 'Another' }]));
        await page.getByText('2 imported.').waitFor();
        await fitsAndReads(page);
        // An imported query replaces the existing one of the same name.
        await take(JSON.stringify([{ ...saved, query: '{service_name="checkout"} |= "slow"' }]));
        await page.getByText('1 imported.').waitFor();
        assert.equal(await page.locator('.past li').count(), 2);
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: 'Export' }).click(),
        ]);
        assert.equal(file.suggestedFilename(), 'ref-proxy-queries.json');
        await page.getByRole('button', { name: 'Run Slow orders' }).click();
        await settled(page);
        assert.equal(await queryText(page), '{service_name="checkout"} |= "slow"');
      }),
  ],
  [
    'a query opens in Grafana with its data source, text and range',
    async (settings) => {
      const grafana = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html').end('<title>Explore</title>');
      });
      grafana.listen(0, '127.0.0.1');
      await once(grafana, 'listening');
      const address = `http://127.0.0.1:${(grafana.address() as AddressInfo).port}/grafana`;
      const flags = [`-ui.grafana-url=${address}/`, '-ui.grafana-datasource-uid=loki-uid'];
      const demo = await startDemo(undefined, flags);
      try {
        await withPage({ ...settings, url: demo.url }, wide, hashOf(checkout), async ({ page }) => {
          const open = async (): Promise<unknown> => {
            await page.getByRole('button', { name: 'Share', exact: true }).click();
            await fitsAndReads(page);
            const [explore] = await Promise.all([
              page.waitForEvent('popup'),
              page.getByRole('link', { name: 'Open in Grafana' }).click(),
            ]);
            await explore.waitForLoadState();
            assert.equal(await explore.title(), 'Explore');
            assert.equal(await explore.evaluate('opener'), null);
            const url = new URL(explore.url());
            assert.equal(url.origin + url.pathname, `${address}/explore`);
            assert.equal(url.searchParams.get('schemaVersion'), '1');
            await explore.close();
            await page.keyboard.press('Escape');
            return Object.values(JSON.parse(url.searchParams.get('panes') ?? '') as object)[0];
          };
          const query = {
            refId: 'A',
            datasource: { type: 'loki', uid: 'loki-uid' },
            expr: checkout,
            queryType: 'range',
            editorMode: 'code',
            maxLines: 100,
            direction: 'backward',
          };
          const range = { from: 'now-1h', to: 'now' };
          assert.deepEqual(await open(), { datasource: 'loki-uid', queries: [query], range });
          const [from, to] = ['2026-01-31T10:00:00.000Z', '2026-01-31T12:00:00.000Z'];
          const fixed = hashOf(checkout, { range: 'custom', from, to, limit: '20', direction: 'forward' });
          await page.goto(`${demo.url}/#${fixed}`);
          await settled(page);
          assert.deepEqual(await open(), {
            datasource: 'loki-uid',
            queries: [{ ...query, maxLines: 20, direction: 'forward' }],
            range: { from: String(Date.parse(from)), to: String(Date.parse(to)) },
          });
        });
      } finally {
        await demo.close();
        grafana.closeAllConnections();
        grafana.close();
      }
    },
  ],
];
