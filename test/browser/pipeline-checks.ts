import assert from 'node:assert/strict';
import {
  everyLine,
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

const stageNames = [
  'tenancy',
  'guard',
  'tier0',
  'kept-patterns',
  'label-index',
  'translate',
  'window-split',
  'cold-route',
  'peer-cache',
  'drilldown',
  'backend',
  'response-shape',
];

/** The findings of a mirror, as returned by `/admin/mirror`. */
const found = {
  status: 'success',
  outcomes: { equal: 180, different: 2, failed: 1, skipped: 0, not_sent: 12 },
  data: [
    {
      ...{
        kind: 'volume',
        reference: '{"app":"a"} 12',
        candidate: '{"app":"a"} 14',
        atMs: 1_793_491_200_000,
      },
      ...{ tenant: 'team-a', known: 'volumes, bytes and chunks of statistics' },
      request: { path: '/loki/api/v1/index/volume', params: { query: '{app="a"}', start: '1', end: '2' } },
    },
    {
      ...{ kind: 'value', where: '{app="a"}', reference: '[60,"3"]', candidate: '[60,"1"]', tenant: '' },
      ...{ atMs: 1_793_491_260_000 },
      request: { path: '/loki/api/v1/query_range', params: { query: 'rate({app="a"}[1m])', step: '60' } },
    },
  ],
};

/** The pipeline view: the path of a request, the queries of clients, the settings and the mirror. */
export const pipelineChecks: readonly Check[] = [
  [
    'the pipeline is the way of a request: the routes it arrives by, and each stage in its order with figures',
    async (settings) => {
      await withPage(settings, wide, hashOf(everyLine), ({ page }) => settled(page));
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, 'view=pipeline', async ({ page }) => {
            assert.deepEqual(await page.locator('.way .stage-name').allTextContents(), stageNames);
            assert.match(await page.locator('.routes').first().innerText(), /ui_query_range \d+, p95 .* ms/);
            assert.match(
              await page.locator('.way-stage', { hasText: 'backend' }).innerText(),
              /\d+ calls? to VictoriaLogs/,
            );
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('pipeline', page, 860);
          });
        }
      }
    },
  ],
  [
    'a stage opens beside the list, or below its line on narrow screens, with its options in a tab',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, 'view=pipeline', async ({ page }) => {
            const button = page.getByRole('button', { name: 'guard', exact: true });
            await button.press('Enter');
            const details = page.locator('.details');
            assert.match(await details.innerText(), /Provides\s+permit/);
            const [line, panel] = [await button.boundingBox(), await details.boundingBox()];
            assert.ok(line !== null && panel !== null);
            if (size.width >= 1024) assert.ok(panel.x > line.x + 300, 'beside the list');
            else assert.ok(panel.y > line.y && panel.y - line.y < 200, 'right below');
            await fitsAndReads(page);
            await page.getByRole('tab', { name: 'Overview' }).press('ArrowRight');
            assert.match(
              await details.locator('.options').first().innerText(),
              /rateLimitPerSecond[\s\S]*0[\s\S]*default/,
            );
            await details.locator('summary').press('Enter');
            assert.ok((await details.locator('dt').count()) > 3);
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('stage', page, 900);
            await page.getByRole('tab', { name: /^Options/ }).press('Escape');
            assert.equal(await details.count(), 0);
            assert.equal(await page.evaluate('document.activeElement?.id'), 'open-guard');
          });
        }
      }
    },
  ],
  [
    'a link leads to a stage, to a tab, and to a section of the settings',
    (settings) =>
      withPage(settings, wide, 'view=pipeline&stage=tier0', async ({ page }) => {
        await page.locator('.details h3', { hasText: 'tier0' }).waitFor();
        await page.getByRole('tab', { name: 'Settings' }).click();
        await page.getByRole('button', { name: 'server', exact: true }).click();
        await until(page, "location.hash.includes('stage=server')");
        await page.reload();
        await page.locator('.details h3', { hasText: 'server' }).waitFor();
        await page.goto(`${settings.url}/#view=pipeline&tab=mirror`);
        await page.getByText('This pipeline has no stage mirror').waitFor();
        await page.goto(`${settings.url}/#view=pipeline&stage=reference-api`);
        await page.locator('.details h3', { hasText: 'reference-api' }).waitFor();
      }),
  ],
  [
    'waiting for the backend counts for the backend',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine, { limit: '1000' }), async ({ page }) => {
        await page.getByRole('button', { name: 'Pipeline' }).click();
        await page.locator('.way-stage').first().waitFor();
        const told = await page.evaluate<{
          stages: readonly { id: string; figures: { ownMs: { p95: number } } }[];
        }>(`fetch('api/pipeline').then((answer) => answer.json())`);
        const ownOf = (id: string): number =>
          told.stages.find((stage) => stage.id === id)?.figures.ownMs.p95 ?? 0;
        assert.ok(ownOf('backend') > 0.1, 'the backend is waited for');
        await page.locator('.stage-note summary').click();
        assert.match(
          await page.locator('.stage-note').innerText(),
          /waiting for VictoriaLogs counts for backend/,
        );
      }),
  ],
  [
    'queries of clients are sorted by a column and filtered by a text, with their share of time and the way they were read',
    async (settings) => {
      const asked = 'sum by (service_name) (rate({service_name=~".+"} | json | status="500" [1m]))';
      for (const query of [asked, everyLine])
        await withPage(settings, wide, hashOf(query), ({ page }) => settled(page));
      await askOften(settings.url, asked);
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, 'view=pipeline&tab=queries', async ({ page }) => {
            const row = page.locator('.asked tbody tr', { hasText: 'status="500"' }).first();
            await row.waitFor();
            assert.match(await row.innerText(), /ui_query_range read as \S+/);
            if (size.width > 390) assert.match(await row.innerText(), /not as statistics: /);
            // The page has also checked and explained it, but these requests do not count as queries.
            assert.doesNotMatch(await page.locator('.asked').innerText(), /ui_(?:check|explain)/);
            await page.getByRole('button', { name: 'Share of time' }).press('Enter');
            assert.equal(await page.locator('[aria-sort="descending"]').innerText(), 'Share of time ↓');
            const shares = await page.evaluate<readonly number[]>(`(() => {
              const at = [...document.querySelectorAll('.asked thead th')].findIndex(({ ariaSort }) => ariaSort !== null);
              return [...document.querySelectorAll('.asked tbody tr')]
                .map(({ children }) => parseFloat(children[at].textContent.replace('<', '')));
            })()`);
            assert.ok(
              shares.length > 1 && shares.every((share, at) => share <= (shares[at - 1] ?? 100)),
              String(shares),
            );
            await page.getByLabel('Filter the queries').fill('500');
            assert.match((await page.locator('.asked tbody tr').allInnerTexts()).join(' '), /500/);
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light')
              await settings.picture(
                'queries',
                page,
                page.locator('section', { has: page.locator('.asked') }),
              );
            await page.getByLabel('Filter the queries').fill('no such query');
            await page.getByText('No query has this text').waitFor();
            await page.getByLabel('Filter the queries').fill('');
            await row.locator('.series-name').click();
            // The editor shows an example until it has the query.
            await page.locator('.cm-content', { hasText: 'status="500"' }).waitFor();
          });
        }
      }
    },
  ],
  [
    'one click leads from a slow query to its plan, with the figures of its slowest run, without running it again',
    async (settings) => {
      const asked = 'sum by (service_name) (rate({service_name=~".+"} | json | status="404" [1m]))';
      await withPage(settings, wide, hashOf(asked), ({ page }) => settled(page));
      await askOften(settings.url, asked);
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, 'view=pipeline&tab=queries', async ({ page }) => {
            const runs: string[] = [];
            page.on('request', (request) => {
              if (request.url().includes('query_range')) runs.push(request.url());
            });
            const row = page.locator('.asked tbody tr', { hasText: 'status="404"' }).first();
            await row.getByRole('button', { name: /^Why slow/ }).press('Enter');
            await page.locator('.flow').first().waitFor();
            assert.equal(await page.evaluate('document.activeElement?.textContent'), 'Why slow');
            assert.match(await page.locator('.flow-arrow').first().innerText(), /rows?, .*B, \d+ calls?/);
            assert.match(await page.locator('.flow').innerText(), /Slowest run in [\d.,]+ ms/);
            assert.deepEqual(runs, []);
            await fitsAndReads(page);
            await page.getByRole('button', { name: 'Back to Queries' }).click();
            await page.locator('.asked').waitFor();
            await row.getByRole('button', { name: /^Why slow/ }).click();
            await page.getByRole('button', { name: 'Run it' }).click();
            await settled(page);
            assert.equal(await queryText(page), asked);
            await page.getByRole('tab', { name: 'Series' }).waitFor();
          });
        }
      }
    },
  ],
  [
    'a mirror shows the share of equal answers, and the latest differences side by side with their reason',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, '', async ({ page }) => {
            await page.route('**/api/pipeline*', async (route) => {
              const answer = await route.fetch();
              const told = (await answer.json()) as { readonly stages: readonly object[] };
              const option = {
                isDefault: false,
                description: '',
                isSet: true,
                isSecret: false,
                isNeutral: false,
              };
              const mirror = {
                ...{ id: 'mirror', name: 'mirror', summary: 'Mirrors.', at: 'a.yaml:1:1', meters: [] },
                options: [
                  { ...option, key: 'url', value: 'http://loki:3100' },
                  { ...option, key: 'percent', value: '5' },
                ],
              };
              await route.fulfill({ json: { ...told, stages: [mirror, ...told.stages] } });
            });
            await page.route('**/admin/mirror*', (route) => route.fulfill({ json: found }));
            await page.reload();
            await page.getByRole('button', { name: 'Pipeline' }).click();
            await page.getByRole('tab', { name: 'Mirror' }).click();
            await page.locator('.difference').first().waitFor();
            assert.match(await page.locator('.outcomes').innerText(), /Equal\s+98 % 180/);
            const first = await page.locator('.difference').first().innerText();
            for (const part of ['value', '[60,"3"]', '[60,"1"]', 'unexplained', 'rate({app="a"}[1m])'])
              assert.ok(first.includes(part), part);
            assert.match(
              await page.locator('.difference').nth(1).innerText(),
              /Reason.*volumes, bytes and chunks of statistics/,
            );
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light') await settings.picture('mirror', page, 760);
            await page.getByRole('button', { name: 'Only unexplained' }).press('Space');
            assert.equal(await page.locator('.difference').count(), 1);
            await page.getByRole('button', { name: 'Open the query' }).click();
            await page.locator('.cm-content', { hasText: 'rate(' }).waitFor();
          });
        }
      }
      for (const size of sizes)
        await withPage(
          settings,
          { ...size, scheme: 'dark' },
          'view=pipeline&tab=mirror',
          async ({ page }) => {
            await page.getByText('This pipeline has no stage mirror').waitFor();
            await fitsAndReads(page);
          },
        );
    },
  ],
];

/** Makes a query one of the most frequent ones: the lists show only the top ones by each column, and other checks send many others. */
async function askOften(pageUrl: string, query: string): Promise<void> {
  const params = new URLSearchParams({ query, since: '1h', step: '60' });
  for (let count = 0; count < 40; count += 1)
    assert.equal((await fetch(`${pageUrl}/api/query_range?${params.toString()}`)).status, 200);
}
