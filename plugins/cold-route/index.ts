/** Stage `cold-route`: a placeholder for the stage described in README.md; passes every exchange on unchanged. */
import type { ColdRouteOptions } from '../../core/base/options.gen.js';
import { defineStage } from '../../core/plugin/index.js';

export default defineStage<ColdRouteOptions>({
  name: 'cold-route',
  summary: 'Old data from the cold backend; passes everything through in this version.',
  needs: [],
  gives: [],
  rest: 'once',
  optional: true,
  create: () => ({ handle: (exchange, rest) => rest(exchange) }),
});
