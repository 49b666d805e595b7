import assert from 'node:assert/strict';
import {
  askedTimes,
  fitsAndReads,
  hashOf,
  queryText,
  rangeText,
  settled,
  typeQuery,
  until,
  wide,
  withPage,
  type Check,
} from './looks.js';

const minute = 60_000;

/** Responses without lines for which no single part of the query is the reason. */
export const emptyChecks: readonly Check[] = [
  [
    'of labels that have lines each but none together, one is left out by a click',
    (settings) =>
      withPage(
        settings,
        wide,
        hashOf('{service_name="checkout", host_name="vm-1"} |= ""'),
        async ({ page }) => {
          const reason = page.locator('.reason');
          await reason.waitFor();
          assert.match(await reason.innerText(), /no stream with lines has all of them/);
          await fitsAndReads(page);
          await reason.getByRole('button', { name: 'Leave out host_name' }).click();
          await page.locator('.row').first().waitFor();
          assert.match(await queryText(page), /^\{service_name="checkout"\}/);
        },
      ),
  ],
  [
    'streams that have lines at another time are found there, the nearest first',
    async (settings) => {
      const iso = (ms: number): string => new Date(ms).toISOString();
      // The demo only has lines of the last hour.
      const [from, to] = [iso(Date.now() - 240 * minute), iso(Date.now() - 180 * minute)];
      const hash = hashOf('{service_name="checkout"} |= "order"', { range: 'custom', from, to });
      await withPage(settings, wide, hash, async ({ page }) => {
        const reason = page.locator('.reason');
        await reason.waitFor();
        assert.match(await reason.innerText(), /lines at another time; the nearest are from/);
        await fitsAndReads(page);
        await reason.getByRole('button', { name: 'Go there' }).click();
        await page.locator('.row').first().waitFor();
        const [shown] = askedTimes(page);
        assert.ok(shown > Date.parse(to) && shown < Date.now(), iso(shown));
        await page.goBack();
        await reason.waitFor();
        await reason.getByRole('button', { name: /^Last / }).click();
        await page.locator('.row').first().waitFor();
        assert.match(await rangeText(page), /Last (?:3|6|12|24) hours/);
      });
    },
  ],
  [
    'a misspelt tenant is distinguished from one without lines, and a click queries the right one',
    (settings) =>
      withPage({ ...settings, url: settings.tenantUrl }, wide, '', async ({ page }) => {
        const ask = async (tenant: string, query: string): Promise<void> => {
          await page.getByLabel('Tenant').fill(tenant);
          await typeQuery(page, query);
          await page.keyboard.press('Control+Enter');
          await settled(page);
        };
        const sent: (string | undefined)[] = [];
        page.on('request', (request) => {
          if (request.url().includes('query_range')) sent.push(request.headers()['x-scope-orgid']);
        });
        await ask('default', '{service_name="checkout"}');
        await page.locator('.row').first().waitFor();
        await ask('defualt', '{service_name="checkout"}');
        await page.locator('.empty').waitFor();
        assert.match(await page.locator('.empty').innerText(), /Tenant “defualt” has no logs/);
        await fitsAndReads(page);
        await page.getByRole('button', { name: 'Ask as default' }).click();
        await page.locator('.row').first().waitFor();
        assert.equal(await page.getByLabel('Tenant').inputValue(), 'default');
        assert.equal(sent.at(-1), 'default');
        assert.ok(sent.includes('defualt'));
        // For a tenant with logs but none that match this query, the reason concerns the query.
        await ask('default', '{service_name="chekout"}');
        await page.locator('.reason').waitFor();
        await until(page, "document.querySelector('.empty h2')?.textContent === 'No lines'");
      }),
  ],
];
