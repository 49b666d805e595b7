import { definitionsOf, readBuiltInSchemas } from '../kernel/options/index.js';
import type { LoadedPlugin, Pipeline, Reread } from '../kernel/pipeline/index.js';

/** The pipeline with files of its own for each worker but the first, where a process keeps something: `<path>.worker-<id>`. */
export function withOwnFiles(pipeline: Pipeline, id: number): Pipeline {
  if (id === 1) return pipeline;
  const schemas = readBuiltInSchemas();
  const withOwn = (loaded: LoadedPlugin): LoadedPlugin => {
    const own = definitionsOf(loaded.use, schemas.get(loaded.use) ?? {})
      .filter(({ fileUse }) => fileUse === 'write')
      .flatMap(({ key }) => {
        const path = new Map<string, unknown>(Object.entries(loaded.options ?? {})).get(key);
        return typeof path === 'string' && path !== '' ? [[key, `${path}.worker-${id}`] as const] : [];
      });
    return own.length === 0
      ? loaded
      : { ...loaded, options: { ...Object(loaded.options), ...Object.fromEntries(own) } };
  };
  const { stages, endpoints, services, reread } = pipeline;
  return {
    ...pipeline,
    ...(reread === undefined ? {} : { reread: async () => owned(await reread(), id) }),
    stages: stages.map(withOwn),
    endpoints: endpoints.map(withOwn),
    services: services.map(withOwn),
  };
}

function owned({ pipeline, findings }: Reread, id: number): Reread {
  return pipeline === undefined ? { findings } : { pipeline: withOwnFiles(pipeline, id), findings };
}
