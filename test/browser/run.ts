import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';
import { checks } from './checks.js';
import type { Browser } from 'playwright-core';
import type { CheckSettings, Picture } from './looks.js';
import { withChromium } from './chromium.js';
import { startDemo } from './demo.js';

/**
 * `npm run browser`: checks /ui of a demo in headless Chromium (`CHROMIUM`, else /usr/bin/chromium); `-- --write` also writes the
 * screenshots of docs/ui.md, `-- --only=TEXT` runs the checks with that text in their sentence. Exits with 1 if a check fails, and with 2
 * if Chromium is not installed.
 */
async function main(browser: Browser): Promise<number> {
  const picture = process.argv.includes('--write') ? await pictures() : () => Promise.resolve();
  const closers: (() => Promise<void>)[] = [];
  try {
    const [demo, locked, wanting] = await Promise.all([startDemo(), startDemo('token'), startDemo('tenant')]);
    closers.push(demo.close, locked.close, wanting.close);
    const urls = { url: demo.url, lockedUrl: locked.url, tenantUrl: wanting.url };
    return await runAll({ browser, ...urls, picture });
  } finally {
    await Promise.all(closers.map((close) => close()));
  }
}

async function runAll(settings: CheckSettings): Promise<number> {
  let failures = 0;
  const only = process.argv.find((text) => text.startsWith('--only='))?.slice('--only='.length) ?? '';
  const chosen = checks.filter(([sentence]) => sentence.includes(only));
  for (const [sentence, check] of chosen) {
    const startedMs = performance.now();
    try {
      await check(settings);
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      process.stdout.write(`  ok  ${sentence} (${seconds} s)\n`);
    } catch (error) {
      failures += 1;
      process.stdout.write(
        `FAIL  ${sentence}\n${error instanceof Error ? (error.stack ?? '') : String(error)}\n`,
      );
    }
  }
  process.stdout.write(`${chosen.length - failures} of ${chosen.length} checks passed\n`);
  return failures === 0 ? 0 : 1;
}

/** The maximum size of an image in the repository. */
const mostBytes = 250_000;

async function pictures(): Promise<Picture> {
  const folder = join(packageRoot(), 'docs', 'images');
  await mkdir(folder, { recursive: true });
  return async (name, page, shown, focus) => {
    const path = join(folder, `ui-${name}.png`);
    // From the top, without the pointer and focus that the check has left.
    await page.mouse.move(0, 0);
    if (focus === undefined) await page.evaluate('document.activeElement?.blur()');
    await page.evaluate('scrollTo(0, 0)');
    const height = typeof shown === 'number' ? shown : 1_600;
    await page.setViewportSize({ width: page.viewportSize()?.width ?? 0, height });
    await (typeof shown === 'number' ? page : shown).screenshot({
      path,
      animations: 'disabled',
      caret: 'hide',
    });
    const { size } = await stat(path);
    if (size > mostBytes) throw new Error(`${path} has ${size} bytes`);
  };
}

process.exitCode = await withChromium(main);
