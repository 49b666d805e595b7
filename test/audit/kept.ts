/** Helpers for the claims about caches: old lines of one stream, and a check for backend calls. */
import { hourMs, linesOf, minuteMs, type Lab } from './lab.js';
import { expect } from './section.js';
import type { Params, Site } from './site.js';

export const selector = '{app="web"}';

/** True if a request causes any backend call. */
export async function asks(site: Site, path: string, params: Params): Promise<boolean> {
  site.relay.forget();
  const { status } = await site.get(path, params);
  expect(status === 200, `${path} answers ${status}`);
  return site.called.length > 0;
}

/** Pushes lines that are three hours old. */
export async function filled(lab: Lab): Promise<void> {
  await lab.push(
    linesOf({ app: 'web' }, 60, 30 * minuteMs, (at) => `served request ${at} in ${at * 3} ms`).map(
      (line) => ({ ...line, agoMs: line.agoMs + 3 * hourMs }),
    ),
  );
}
