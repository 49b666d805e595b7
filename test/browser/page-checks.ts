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
            // Times on a busy machine have more digits.
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
    'nothing moves while the page loads, and the first stop of the keyboard leads to the query',
    (settings) =>
      withPage(settings, wide, '', async ({ page }) => {
        assert.ok((await page.evaluate<number>(layoutShift)) < 0.01);
        await page.locator('#query .cm-content').waitFor();
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
        await page.getByRole('tab', { name: 'Settings' }).click();
        await page.getByRole('button', { name: 'server', exact: true }).press('Enter');
        await page.getByRole('tab', { name: /^Options/ }).click();
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
