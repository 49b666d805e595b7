import type { ResponseShapeOptions } from '../../core/base/options.gen.js';
import { defineStage } from '../../core/plugin/index.js';
import { responseShapeMetrics } from '../../core/engine/memories.js';
import { ResponseShapeStage } from '../../core/engine/engine.js';

/** The last stage: pulls rows or listings and answers in Loki's shape. */
export default defineStage({
  name: 'response-shape',
  summary: 'Evaluates what the backend could not, over the row stream, and gives the answer its shape',
  needs: ['tenant', 'plan', 'upstream'],
  gives: [],
  rest: 'never',
  metrics: responseShapeMetrics,
  create: (options: ResponseShapeOptions, host) => new ResponseShapeStage(options, host),
});
