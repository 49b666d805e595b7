/** Stage `window-split`: a placeholder for the stage described in README.md; passes every exchange on unchanged. */
import type { WindowSplitOptions } from '../../core/base/options.gen.js';
import { defineStage } from '../../core/plugin/index.js';

export default defineStage<WindowSplitOptions>({
  name: 'window-split',
  summary: 'Long log queries in time windows; passes everything through in this version.',
  needs: [],
  gives: [],
  rest: 'once',
  optional: true,
  create: () => ({ handle: (exchange, rest) => rest(exchange) }),
});
