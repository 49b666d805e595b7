import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { openPage, type Look, type WatchedPage } from './chromium.js';
import {
  faintTexts,
  namelessControls,
  overflow,
  rowsTouch,
  smallTargets,
  smallTexts,
  spiltOver,
} from './in-page.js';

/**
 * Saves a screenshot of the page from its top to a height, or of one element; does nothing unless screenshots are enabled. It removes the
 * focus, unless the focus is the subject.
 */
export type Picture = (name: string, page: Page, shown: number | Locator, focus?: 'kept') => Promise<void>;

export interface CheckSettings {
  readonly browser: Browser;
  readonly url: string;
  /** UI of a demo that requires a token. */
  readonly lockedUrl: string;
  /** UI of a demo whose pipeline rejects requests without a tenant. */
  readonly tenantUrl: string;
  readonly picture: Picture;
}

/** A sentence about the page, and a function that throws if it is false. */
export type Check = readonly [sentence: string, check: (settings: CheckSettings) => Promise<void>];

export const wide: Look = { width: 1440, height: 900, scheme: 'light' };
export const dark: Look = { ...wide, scheme: 'dark' };
/** The supported window sizes. */
export const sizes: readonly Omit<Look, 'scheme'>[] = [
  { width: 390, height: 844 },
  { width: 1024, height: 768 },
  { width: 1440, height: 900 },
];
export const schemes = ['light', 'dark'] as const;

export const everyLine = '{service_name=~".+"}';

/** Opens the page, waits until it shows the query of its address, and requires that it causes no errors and no requests to other hosts. */
export async function withPage(
  { browser, url }: Pick<CheckSettings, 'browser' | 'url'>,
  look: Look,
  hash: string,
  use: (watched: WatchedPage) => Promise<void>,
): Promise<void> {
  const watched = await openPage(browser, hash === '' ? url : `${url}/#${hash}`, look);
  try {
    await watched.page.locator('.views').waitFor();
    if (hash.includes('query='))
      await watched.page.locator('.summary-line, .failure, .problem').first().waitFor();
    await use(watched);
    assert.deepEqual(watched.faults, []);
  } finally {
    await watched.close();
  }
}

/**
 * Checks a state of the page: it fits its window, lines do not overlap, texts and targets are large enough, and axe finds no serious fault
 * (WCAG AA).
 */
export async function fitsAndReads(page: Page): Promise<void> {
  assert.ok((await page.evaluate<number>(overflow)) <= 0, 'the page is no wider than its window');
  for (const [what, question] of [
    ['a control without a name', namelessControls],
    ['a text with a contrast under 4.5:1', faintTexts],
    ['a text under 13 pixels', smallTexts],
    ['a target under 32 pixels', smallTargets],
    ['something outside of its menu', spiltOver],
  ] as const)
    assert.deepEqual(await page.evaluate<string[]>(question), [], what);
  await until(page, rowsTouch);
  await page.evaluate(axe.source);
  const found = await page.evaluate<readonly string[]>(`
    axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')))`);
  assert.deepEqual(found, [], 'axe finds nothing serious');
}

/** Types a query into the empty editor, without completions. */
export async function typeQuery(page: Page, query: string): Promise<void> {
  const editor = page.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(query);
}

/** Polls until an expression is true in the page; the page's CSP blocks Playwright's own function for this. */
export async function until(page: Page, expression: string): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    if (await page.evaluate<boolean>(`Boolean(${expression})`)) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`never held: ${expression}`);
}

/** Waits until a run has ended. */
export async function settled(page: Page): Promise<void> {
  await page.locator('.outcome[aria-busy="false"]').waitFor();
}

/** Opens the settings with limit and order, unless they are open. */
export async function openSettings(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: /^Settings/ });
  if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click();
}

/** The label of the time range button. */
export async function rangeText(page: Page): Promise<string> {
  const button = page.locator('.time-button');
  return (await button.getAttribute('title')) ?? (await button.innerText());
}

/** The absolute times in the address of the page, in milliseconds. */
export function askedTimes(page: Page): readonly [from: number, to: number] {
  const asked = new URLSearchParams(new URL(page.url()).hash.slice(1));
  return [Date.parse(asked.get('from') ?? ''), Date.parse(asked.get('to') ?? '')];
}

/** The query in the editor. */
export function queryText(page: Page): Promise<string> {
  return page.locator('.cm-content').innerText();
}

export function hashOf(query: string, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({ query, ...more }).toString();
}
