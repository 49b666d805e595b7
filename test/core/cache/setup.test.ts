import test from 'ava';
import { setupOf } from '../../../core/cache/setup.js';
import { defineStage } from '../../../core/plugin/index.js';
import { makePipeline } from '../../../core/testing/index.js';
import { describeOptions } from '../../../core/kernel/options/describe.js';
import type { StagePlugin } from '../../../core/kernel/plugin/contract.js';

function stageOf(name: string, more: Partial<StagePlugin> = {}): StagePlugin {
  return {
    ...defineStage({
      name,
      summary: '',
      needs: [],
      gives: [],
      rest: 'once',
      create: () => ({ handle: (exchange, rest) => rest(exchange) }),
    }),
    ...more,
  } as StagePlugin;
}

const schema = { type: 'object', properties: { word: { type: 'string' } } };

/** The setup of a pipeline with a cache of a site between two stages that have these words. */
function setupWith(before: string, behind: string): string {
  const { stages } = makePipeline({
    stages: [
      { plugin: stageOf('before', { schema }), options: { word: before } },
      stageOf('cache-of-a-site', { keepsAnswers: true }),
      { plugin: stageOf('behind', { schema }), options: { word: behind } },
      stageOf('translate'),
    ],
  });
  const described = stages.map(({ id, plugin, options, at }) => ({
    id,
    name: plugin.name,
    summary: '',
    at: at.file,
    options: describeOptions(plugin.schema ?? {}, new Map(Object.entries(options as object))),
  }));
  return setupOf({ sections: [], stages: described }, stages);
}

test('what stands behind a cache of a site is part of the setup, and what stands before it is in the request', (t) => {
  t.is(setupWith('a', 'a'), setupWith('b', 'a'));
  t.not(setupWith('a', 'a'), setupWith('a', 'b'));
});
