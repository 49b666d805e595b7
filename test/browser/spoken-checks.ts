import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { boxStops } from './in-page.js';
import { hashOf, settled, typeQuery, until, wide, withPage, type Check } from './looks.js';
import { outlineOf, spokenParts, unclearStops, type SpokenPart } from './spoken.js';

/** Checks the rules for every state, and returns the parts of this one. */
async function heard(page: Page): Promise<readonly SpokenPart[]> {
  const parts = await spokenParts(page);
  assert.deepEqual(unclearStops(parts), [], 'each stop of the keyboard says once what it is');
  assert.deepEqual(await page.evaluate<string[]>(boxStops), []);
  const levels = outlineOf(parts).flatMap((one) => /^\d/.exec(one)?.map(Number) ?? []);
  assert.equal(levels[0], 1);
  for (const [at, level] of levels.entries())
    assert.ok(level <= (levels[at - 1] ?? 0) + 1, `no level of headings is left out: ${levels.join(' ')}`);
  return parts;
}

/** The texts of the live regions, which screen readers announce when they change. */
function announced(parts: readonly SpokenPart[]): readonly string[] {
  return parts
    .filter(
      ({ role, within }) => role === 'StaticText' && within.some((one) => /^(?:status|alert)/.test(one)),
    )
    .map(({ name }) => name);
}

const partsIn = (parts: readonly SpokenPart[], role: string, inside: RegExp): readonly SpokenPart[] =>
  parts.filter((part) => part.role === role && part.within.some((one) => inside.test(one)));

const frame = (...inside: readonly string[]): readonly string[] => [
  'banner',
  '1 ref-proxy',
  'navigation Views',
  'main',
  ...inside,
  'contentinfo',
];

const query = ['region Query', '2 Query'];
const answer = ['complementary Fields and labels', 'region Answer', '2 Answer'];

/** The page as a screen reader presents it. */
export const spokenChecks: readonly Check[] = [
  [
    'a screen reader meets lines as a list of so many, hears of the answer, and an open row by its headings',
    (settings) =>
      withPage(settings, wide, '', async ({ page, faults }) => {
        await typeQuery(page, '{service_name="checkout"} | logfmt');
        await page.keyboard.press('Control+Enter');
        await page.locator('.row').first().waitFor();
        await settled(page);
        let parts = await heard(page);
        assert.deepEqual(outlineOf(parts), frame(...query, ...answer));
        assert.match(announced(parts).join(' '), /\b100 of [\d,]+ lines, limit of 100 reached/);
        const list = parts.find(({ role, name }) => role === 'list' && name === 'Log lines: 100');
        assert.ok(list?.within.includes('tabpanel Lines'), 'the list is in the panel of its tab');
        const rows = partsIn(parts, 'button', /^list Log lines/);
        assert.ok(rows.length > 10);
        for (const { name } of rows) assert.match(name, /^\d\d:\d\d:\d\d\.\d{3} (?:info|warn|error) /);
        assert.equal(await page.locator('.row').first().getAttribute('aria-setsize'), '100');
        await page.locator('.row-head').first().press('Enter');
        await page.locator('.row-labels').first().waitFor();
        parts = await heard(page);
        assert.deepEqual(
          outlineOf(parts),
          frame(...query, ...answer, '3 Line as logfmt', '3 Stream labels', '3 Structured metadata'),
        );
        const actions = partsIn(parts, 'button', /^listitem/).map(({ name }) => name);
        for (const name of ['Only lines with pod', 'No lines with pod', 'Copy the value of pod'])
          assert.ok(
            actions.some((one) => one.startsWith(name)),
            name,
          );
        // A chart with keyboard control announces its purpose and its current position.
        await page.locator('.plot svg').press('End');
        await until(page, "document.querySelector('.chart-tip') !== null");
        assert.ok(announced(await heard(page)).includes('all'), 'the bar is announced');
        // An error is announced, too.
        await typeQuery(page, '{service_name=');
        await page.keyboard.press('Control+Enter');
        await page.locator('.failure').waitFor();
        assert.match(announced(await heard(page)).join(' '), /parse error at line 1/);
        assert.match(String(faults.splice(0)), /^Failed to load resource: [^,]*400[^,]*$/);
      }),
  ],
  [
    'a screen reader meets series as a table, the plan as a list, and both by headings',
    (settings) =>
      withPage(
        settings,
        wide,
        hashOf('sum by (service_name) (rate({service_name=~".+"}[5m]))'),
        async ({ page }) => {
          await page.locator('.plot canvas').waitFor();
          await settled(page);
          let parts = await heard(page);
          assert.deepEqual(outlineOf(parts), frame(...query, ...answer));
          assert.match(announced(parts).join(' '), /5 series[\s\S]*5 of 5 series are drawn/);
          const inTable = /^table Series and their values$/;
          assert.deepEqual(
            partsIn(parts, 'columnheader', inTable).map(({ name }) => name),
            ['Series', 'Last', 'Mean', 'Min', 'Max'],
          );
          assert.equal(partsIn(parts, 'rowheader', inTable).length, 5);
          await page.locator('.plot.lines').press('End');
          await until(page, "document.querySelector('.chart-tip') !== null");
          assert.ok(announced(await heard(page)).some((text) => text.includes('checkout')));
          await page.getByRole('tab', { name: 'Plan' }).click();
          await page.locator('.plan').waitFor();
          parts = await heard(page);
          assert.deepEqual(
            outlineOf(parts),
            frame(
              ...query,
              ...answer,
              '2 From VictoriaLogs to the answer',
              '3 VictoriaLogs',
              '3 Proxy',
              '3 Answer',
              '2 Cost',
              'region Cost',
              '2 Make it cheaper',
            ),
          );
          assert.equal(partsIn(parts, 'heading', /^list From VictoriaLogs to the answer$/).length, 3);
        },
      ),
  ],
  [
    'a screen reader meets labels, the pipeline and a dialog by their landmarks',
    (settings) =>
      withPage(settings, wide, hashOf('{service_name="checkout"}'), async ({ page }) => {
        await page.locator('.row').first().waitFor();
        await page.getByRole('button', { name: 'Labels', exact: true }).click();
        await page.locator('.side .facet').first().click();
        await page.locator('.side .value-pick').first().waitFor();
        let parts = await heard(page);
        assert.deepEqual(outlineOf(parts), frame(...query, ...answer));
        const labels = partsIn(parts, 'button', /^list labels$/).map(({ name }) => name);
        assert.ok(labels.includes('namespace') && labels.some((name) => /^service_name/.test(name)));
        await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
        await page.locator('dialog h2').waitFor();
        parts = await spokenParts(page);
        assert.deepEqual(unclearStops(parts), []);
        // The page under the dialog is not reachable.
        assert.deepEqual(outlineOf(parts), ['dialog Keyboard shortcuts', '2 Keyboard shortcuts']);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Pipeline' }).click();
        await page.locator('.way').waitFor();
        parts = await heard(page);
        const outline = outlineOf(parts);
        assert.deepEqual(outline.slice(0, 7), frame('2 Pipeline', '3 Requests', '3 tenancy').slice(0, -1));
        assert.ok(outline.includes('3 backend') && outline.at(-1) === 'contentinfo');
        assert.ok(
          partsIn(parts, 'button', /^list The way of a request$/).some(({ name }) => name === 'guard'),
        );
        assert.ok(partsIn(parts, 'term', /^DescriptionList Figures of guard$/).length >= 4);
      }),
  ],
];
