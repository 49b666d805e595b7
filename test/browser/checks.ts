import assert from 'node:assert/strict';
import type { Browser, Locator, Page } from 'playwright-core';
import { openPage, type Look, type WatchedPage } from './chromium.js';
import { demoToken } from './demo.js';
import { faintTexts, focused, layoutShift, namelessControls, overflow } from './in-page.js';

/** Keeps a picture under a name, of the page from its top to a height or of one part; does nothing unless pictures are wanted. */
export type Picture = (name: string, page: Page, shown: number | Locator) => Promise<void>;

export interface CheckSettings {
  readonly browser: Browser;
  readonly url: string;
  /** Page of a demo that wants a token. */
  readonly lockedUrl: string;
  readonly picture: Picture;
}

/** A sentence about the page, and the function that throws when it is not so. */
export type Check = readonly [sentence: string, check: (settings: CheckSettings) => Promise<void>];

const wide: Look = { width: 1280, height: 1000, scheme: 'light' };
const dark: Look = { ...wide, scheme: 'dark' };
const narrow: Look = { width: 400, height: 860, scheme: 'light' };

const everyLine = '{service_name=~".+"}';
const perService = 'sum by (service_name) (rate({service_name=~".+"}[5m]))';
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

export const checks: readonly Check[] = [
  [
    'the stages of the default pipeline stand in their order, each with what it does and its figures',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        assert.deepEqual(await page.locator('.stage-name').allTextContents(), stageNames);
        for (const text of await page.locator('.stage-summary').allTextContents())
          assert.ok(text.length > 10);
        assert.equal(await page.locator('.stage .figures').count(), stageNames.length);
        assert.ok((await page.evaluate<number>(layoutShift)) < 0.01, 'nothing moves while the page loads');
        await fitsAndReads(page);
      }),
  ],
  [
    'a log query runs by the keyboard alone: lines, labels, histogram and plan',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await page.keyboard.press('Tab');
        await page.keyboard.press('Enter');
        assert.equal(
          await page.evaluate(focused),
          'query',
          'the first stop of the keyboard leads to the query',
        );
        await page.keyboard.type(everyLine);
        await page.keyboard.press('Control+Enter');
        await page.locator('.row').first().waitFor();
        assert.equal(await page.locator('.row').count(), 100);
        const bars = await page.locator('.histogram .bar rect').count();
        assert.ok(bars > 60, `${bars} pieces of bars`);
        assert.deepEqual((await page.locator('.legend').innerText()).match(/error|info|warn/g), [
          'error',
          'warn',
          'info',
        ]);
        assert.match(await page.locator('.plan summary').innerText(), /The backend does all of it/);
        await settings.picture('logs', page, 1120);
        const row = page.locator('.row summary').first();
        await row.press('Enter');
        assert.match(await page.locator('.row-labels').innerText(), /service_name/);
        await page.locator('.histogram svg').press('End');
        await page.keyboard.press('ArrowLeft');
        assert.match(await page.locator('.chart-title').innerText(), / at \d\d:\d\d:\d\d to /);
        await page.keyboard.press('Enter');
        await page.getByLabel('custom').and(page.locator(':checked')).waitFor();
        await page.locator('.outcome[aria-busy="false"]').waitFor();
        assert.match(
          await page.locator('.summary-line').innerText(),
          /^\d\d lines/,
          'a bar chosen is a range of its own',
        );
        await fitsAndReads(page);
      }),
  ],
  [
    'the plan tells tree, LogsQL, and what is evaluated where',
    (settings) =>
      withPage(
        settings,
        dark,
        hashOf('{service_name="checkout"} | logfmt | took > 250ms |= "order"'),
        async ({ page }) => {
          await page.locator('.plan summary').press('Enter');
          const text = await page.locator('.plan-body').innerText();
          for (const part of ['(log', '(selector', '_msg:', '| logfmt', 'backend', 'here', 'count_over_time'])
            assert.ok(text.includes(part), part);
          await fitsAndReads(page);
          await settings.picture('plan-dark', page, page.locator('.plan'));
        },
      ),
  ],
  [
    'a metric query runs by the keyboard: lines, values under the cursor, a table',
    (settings) =>
      withPage(settings, dark, '', async ({ page }) => {
        const box = page.getByLabel('LogQL query');
        await box.focus();
        await page.keyboard.type(perService);
        await page.keyboard.press('Control+Enter');
        await page.locator('.lines path.series').first().waitFor();
        assert.equal(await page.locator('.lines path.series').count(), 4);
        assert.equal(await page.locator('tbody tr').count(), 4);
        await page.locator('.lines svg').press('ArrowLeft');
        await page.locator('.lines circle.dot').first().waitFor();
        await fitsAndReads(page);
        await settings.picture('series-dark', page, 1180);
      }),
  ],
  [
    'a query that is refused shows the server’s text and the place',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"} |= order'), async ({ page, faults }) => {
        const alert = page.locator('.failure');
        assert.match(
          await alert.innerText(),
          /parse error at line 1, col 30: syntax error: unexpected IDENTIFIER/,
        );
        assert.equal(await alert.locator('mark').innerText(), 'order');
        await alert.getByRole('button').press('Enter');
        assert.equal(await page.evaluate('getSelection().toString()'), 'order');
        await fitsAndReads(page);
        // Chromium itself notes the status of the refusal.
        assert.deepEqual(faults.splice(0), [
          'Failed to load resource: the server responded with a status of 400 (Bad Request)',
        ]);
      }),
  ],
  [
    'a stage opens to its options, what differs from the default first',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        await page.getByRole('button', { name: 'guard' }).press('Enter');
        const details = page.locator('.details');
        assert.match(
          await details.locator('.options').first().innerText(),
          /rateLimitPerSecond[\s\S]*0[\s\S]*default/,
        );
        await details.locator('summary').press('Enter');
        assert.ok((await details.locator('dt').count()) > 3);
        await fitsAndReads(page);
        await settings.picture('stage', page, 1000);
        await page.getByRole('button', { name: 'Close' }).press('Enter');
        assert.equal(await details.count(), 0);
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
          assert.equal(await page.locator('.row').count(), 5);
          assert.equal(await page.getByLabel('15m').isChecked(), true);
          assert.equal(await page.getByLabel('Order').inputValue(), 'forward');
          const times = await page.locator('.row time').allTextContents();
          assert.deepEqual(times, [...times].sort());
          await page.getByLabel('LogQL query').fill(perService);
          await page.getByRole('button', { name: 'Run' }).press('Enter');
          await page.locator('.lines svg').waitFor();
          assert.ok(page.url().includes(encodeURIComponent('sum by').replace('%20', '+')));
          await page.goBack();
          await page.locator('.row').first().waitFor();
          assert.equal(await page.getByLabel('LogQL query').inputValue(), everyLine);
        },
      ),
  ],
  [
    'on 400 pixels everything fits, in the light and in the dark',
    async (settings) => {
      for (const scheme of ['light', 'dark'] as const) {
        await withPage(
          settings,
          { ...narrow, scheme },
          hashOf(everyLine, { limit: '20' }),
          async ({ page }) => {
            await page.locator('.plan summary').press('Enter');
            await page.locator('.row summary').first().press('Enter');
            await fitsAndReads(page);
            await page.locator('.plan summary').press('Enter');
            if (scheme === 'light') await settings.picture('narrow', page, 1900);
          },
        );
      }
    },
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
        assert.equal(await page.locator('.stage').count(), 0);
        await fitsAndReads(page);
        await field.fill(demoToken);
        await field.press('Enter');
        await page.locator('.stage').first().waitFor();
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
];

/** Opens the page, waits until it shows what its address asks for, and holds it to making no error and no request elsewhere. */
async function withPage(
  { browser, url }: CheckSettings,
  look: Look,
  hash: string,
  use: (watched: WatchedPage) => Promise<void>,
): Promise<void> {
  const watched = await openPage(browser, hash === '' ? url : `${url}/#${hash}`, look);
  try {
    await watched.page.locator('.stage').first().waitFor();
    if (hash !== '') await watched.page.locator('.summary-line, .failure').waitFor();
    await use(watched);
    assert.deepEqual(watched.faults, []);
  } finally {
    await watched.close();
  }
}

/** What holds in every state of the page: no sideways scrolling, a name for every control, contrast of WCAG AA. */
async function fitsAndReads(page: Page): Promise<void> {
  assert.ok((await page.evaluate<number>(overflow)) <= 0, 'the page is no wider than its window');
  assert.deepEqual(await page.evaluate<string[]>(namelessControls), [], 'every control has a name');
  assert.deepEqual(await page.evaluate<string[]>(faintTexts), [], 'every text has a contrast of 4.5:1');
}

function hashOf(query: string, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({ query, ...more }).toString();
}
