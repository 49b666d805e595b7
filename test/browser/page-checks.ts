import assert from 'node:assert/strict';
import { openPage } from './chromium.js';
import { demoToken } from './demo.js';
import { cutTexts, isInEditor, layoutShift } from './in-page.js';
import {
  everyLine,
  fitsAndReads,
  hashOf,
  schemes,
  settled,
  sizes,
  typeQuery,
  wide,
  until,
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

/** The page as a whole: sizes, colours, views, tokens and tenants. */
export const pageChecks: readonly Check[] = [
  [
    'after Run the first line is on the screen, at every size, in the light and in the dark',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, hashOf(everyLine), async ({ page }) => {
            await page.locator('.row').first().waitFor();
            const box = await page.locator('.row').first().boundingBox();
            assert.ok(
              box !== null && box.y + box.height < size.height,
              `${size.width} ${JSON.stringify(box)}`,
            );
            if (size.width === 1440 && scheme === 'light') await settings.picture('logs', page, 800);
            if (size.width === 390 && scheme === 'dark') await settings.picture('narrow', page, 1400);
            await page.locator('.row-head').first().click();
            await page.locator('.row-labels').waitFor();
            await fitsAndReads(page);
            if (size.width === 1024) return;
            await page.getByRole('tab', { name: /Plan/ }).click();
            await page.locator('.cost').waitFor();
            await until(page, "!document.querySelector('.cost').textContent.includes('…')");
            // Figures of a busy machine are longer.
            await page.evaluate(
              "for (const time of document.querySelectorAll('.cost td:last-child')) time.textContent = '123,456 ms'",
            );
            assert.deepEqual(
              await page.evaluate<string[]>(cutTexts),
              [],
              'no figure and no choice is cut off',
            );
            await fitsAndReads(page);
          });
        }
      }
    },
  ],
  [
    'the pipeline is a view of its own: each stage in its order, with what it does in whole sentences',
    async (settings) => {
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, 'view=pipeline', async ({ page }) => {
            const names = await page.locator('.stages').first().locator('.stage-name').allTextContents();
            assert.deepEqual(names, stageNames);
            for (const text of await page.locator('.stage-summary').allInnerTexts())
              assert.match(text.split('\n')[0] ?? '', /\.$/, 'a full stop');
            await fitsAndReads(page);
          });
        }
      }
    },
  ],
  [
    'a stage opens in its place, on a telephone too: options that differ from the default first',
    async (settings) => {
      for (const size of sizes) {
        await withPage(settings, { ...size, scheme: 'light' }, 'view=pipeline', async ({ page }) => {
          const button = page.getByRole('button', { name: 'guard' });
          await button.press('Enter');
          const details = page.locator('.details');
          assert.match(
            await details.locator('.options').first().innerText(),
            /rateLimitPerSecond[\s\S]*0[\s\S]*default/,
          );
          const [above, below] = [await button.boundingBox(), await details.boundingBox()];
          assert.ok(above !== null && below !== null && below.y - above.y < 260, 'right below');
          await details.locator('summary').press('Enter');
          assert.ok((await details.locator('dt').count()) > 3);
          await fitsAndReads(page);
          if (size.width === 1440) await settings.picture('stage', page, 900);
          await button.press('Enter');
          assert.equal(await details.count(), 0);
        });
      }
    },
  ],
  [
    'waiting for the backend counts for the backend',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine, { limit: '1000' }), async ({ page }) => {
        await page.getByRole('button', { name: 'Pipeline' }).click();
        await page.locator('.stage').first().waitFor();
        const told = await page.evaluate<{
          stages: readonly { id: string; figures: { ownMs: { p95: number } } }[];
        }>(`fetch('api/pipeline').then((answer) => answer.json())`);
        const ownOf = (id: string): number =>
          told.stages.find((stage) => stage.id === id)?.figures.ownMs.p95 ?? 0;
        assert.ok(ownOf('backend') > 0.1, 'the backend is waited for');
        assert.match(
          await page.locator('.stage-note').innerText(),
          /waiting for VictoriaLogs counts for backend/,
        );
      }),
  ],
  [
    'what clients have asked is listed by how slow it is or how much it reads, with the way it was read, and leads to the query',
    async (settings) => {
      const asked = 'sum by (service_name) (rate({service_name=~".+"} | json | status="500" [1m]))';
      await withPage(settings, wide, hashOf(asked), async ({ page }) => {
        await settled(page);
      });
      for (const size of sizes) {
        for (const scheme of schemes) {
          await withPage(settings, { ...size, scheme }, 'view=pipeline', async ({ page }) => {
            const row = page.locator('.asked tr', { hasText: 'status="500"' }).first();
            await row.waitFor();
            assert.match(await row.innerText(), /ui_query_range read as \S+/);
            assert.match(await row.innerText(), /not as statistics: /);
            // The page has checked and explained it too, which nobody calls a query.
            assert.doesNotMatch(await page.locator('.asked').innerText(), /ui_(?:check|explain)/);
            await page.getByLabel('Show').selectOption('Most read');
            await row.waitFor();
            await fitsAndReads(page);
            if (size.width === 1440 && scheme === 'light')
              await settings.picture(
                'queries',
                page,
                page.locator('section', { has: page.locator('.asked') }),
              );
            if (size.width !== 390) return;
            await row.getByRole('button').click();
            // The editor shows an example until it has the query.
            await page.locator('.cm-content', { hasText: 'status="500"' }).waitFor();
          });
        }
      }
    },
  ],
  [
    'nothing moves while the page loads, and the first stop of the keyboard leads to the query',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        assert.ok((await page.evaluate<number>(layoutShift)) < 0.01);
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        await until(page, isInEditor);
        await fitsAndReads(page);
      }),
  ],
  [
    'light, dark and the time zone can be chosen, and stay chosen',
    (settings) =>
      withPage(settings, wide, hashOf(everyLine, { limit: '3' }), async ({ page }) => {
        const paper = (): Promise<string> =>
          page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
        const light = await paper();
        await page.getByRole('button', { name: /as the system/ }).click();
        await page.getByRole('button', { name: 'Light colours' }).click();
        assert.notEqual(await paper(), light);
        await fitsAndReads(page);
        await page.reload();
        await page.getByRole('button', { name: 'Dark colours' }).waitFor();
        assert.notEqual(await paper(), light);
        await page.locator('.row time').first().waitFor();
        const here = await page.locator('.row time').first().innerText();
        const zone = page.getByLabel('Time zone');
        assert.match(await zone.innerText(), /UTC\+05:30 \(browser\)/);
        await zone.selectOption('utc');
        assert.notEqual(await page.locator('.row time').first().innerText(), here);
      }),
  ],
  [
    'with an admin token the page asks for it, refuses a wrong one and opens with the right one',
    async (settings) => {
      const { page, faults, close } = await openPage(settings.browser, settings.lockedUrl, wide);
      try {
        const field = page.getByLabel('Token');
        await field.fill('wrong');
        await field.press('Enter');
        await page.getByRole('alert').waitFor();
        assert.equal(await page.locator('.query-form').count(), 0);
        await fitsAndReads(page);
        await field.fill(demoToken);
        await field.press('Enter');
        await page.locator('.query-form').waitFor();
        await page.getByRole('button', { name: 'Pipeline' }).click();
        await page.getByRole('button', { name: 'server', exact: true }).press('Enter');
        assert.match(await page.locator('.details').innerText(), /adminAuthToken\s+set, not shown/);
        assert.equal((await page.content()).includes(demoToken), false);
        assert.deepEqual(
          new Set(faults),
          new Set(['Failed to load resource: the server responded with a status of 401 (Unauthorized)']),
        );
      } finally {
        await close();
      }
    },
  ],
  [
    'where a tenant is wanted, a run without one leads to its field, and one without logs is told as such',
    (settings) =>
      withPage({ ...settings, url: settings.tenantUrl }, wide, '', async ({ page }) => {
        await typeQuery(page, everyLine);
        await page.keyboard.press('Control+Enter');
        await page.locator('.problem').waitFor();
        await until(page, "document.activeElement?.closest('.tenant') !== null");
        await fitsAndReads(page);
        await page.keyboard.insertText('nobody');
        await page.keyboard.press('Enter');
        await page.locator('.empty').waitFor();
        await settled(page);
        assert.match(await page.locator('.empty').innerText(), /Tenant “nobody” has no logs/);
        await fitsAndReads(page);
      }),
  ],
];
