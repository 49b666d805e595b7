import { packageBuiltIns, type Pipeline } from '../kernel/pipeline/index.js';

/** The stages that are not built in. */
export function siteStages(stages: Pipeline['stages']): Pipeline['stages'] {
  const { names } = packageBuiltIns();
  return stages.filter(({ use }) => !names.includes(use));
}

/** The stages that are not built in, with the built-in ones that provide their slots. */
export function siteChain(stages: Pipeline['stages']): Pipeline['stages'] {
  const ofSite = siteStages(stages);
  return stages.filter((stage) => ofSite.includes(stage) || stage.plugin.gives.length > 0);
}
