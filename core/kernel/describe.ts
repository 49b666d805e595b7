import { describeOptions } from './options/describe.js';
import { readBuiltInSchemas, type OptionSchema } from './options/index.js';
import type { LoadedPlugin, Pipeline } from './pipeline/types.js';
import type {
  MeterReading,
  PartDescription,
  PipelineDescription,
  SectionDescription,
} from './plugin/host.js';
import { metricPrefix, type MeterRegistry } from './telemetry/meters.js';
import type { StageMeter } from './stage-meter.js';

export interface DescribeSettings {
  readonly registry: MeterRegistry;
  /** By id of the stage. */
  readonly stageMeters: ReadonlyMap<string, StageMeter>;
  /** Unix milliseconds. */
  readonly startedMs: number;
}

/** Makes the function that describes a pipeline: options change with its names only, figures are read on each call. */
export function createDescriber(
  pipeline: Omit<Pipeline, 'names'>,
  names: () => Pipeline['names'],
  settings: DescribeSettings,
): () => Promise<PipelineDescription> {
  let fixed: Fixed | undefined;
  return async () => {
    if (fixed?.names !== names()) fixed = describeFixed({ ...pipeline, names: names() });
    const withFigures = (parts: readonly FixedPart[]): Promise<readonly PartDescription[]> =>
      Promise.all(parts.map((part) => readFigures(part, settings)));
    const [stages, endpoints, services] = await Promise.all([
      withFigures(fixed.stages),
      withFigures(fixed.endpoints),
      withFigures(fixed.services),
    ]);
    const { file } = pipeline;
    return { file, startedMs: settings.startedMs, stages, endpoints, services, sections: fixed.sections };
  };
}

/** The description of a plugin without its figures, and the metrics it declares. */
interface FixedPart {
  readonly description: Omit<PartDescription, 'meters' | 'figures'>;
  readonly loaded: LoadedPlugin;
}
interface Fixed {
  readonly names: Pipeline['names'];
  readonly stages: readonly FixedPart[];
  readonly endpoints: readonly FixedPart[];
  readonly services: readonly FixedPart[];
  readonly sections: readonly SectionDescription[];
}

function describeFixed(pipeline: Pipeline): Fixed {
  const schemas = readBuiltInSchemas();
  const describe = (loaded: LoadedPlugin): FixedPart => describePart(loaded, schemas);
  const { server, names, limits, telemetry } = pipeline;
  const sections = new Map<string, object>(Object.entries({ server, names, limits, telemetry }));
  return {
    names,
    stages: pipeline.stages.map(describe),
    endpoints: pipeline.endpoints.map(describe),
    services: pipeline.services.map(describe),
    sections: [...sections].map(([name, options]) => {
      const schema = schemas.get(name) ?? {};
      return { name, summary: schema.description ?? '', options: describeOptions(schema, valuesOf(options)) };
    }),
  };
}

function describePart(loaded: LoadedPlugin, schemas: ReadonlyMap<string, OptionSchema>): FixedPart {
  const { id, use, plugin, at } = loaded;
  // A plugin's own schema was compiled when the file was loaded; the type only names the parts used here.
  const own: OptionSchema | undefined = plugin.schema;
  const schema = schemas.get(use) ?? own ?? {};
  return {
    loaded,
    description: {
      id,
      name: plugin.name,
      summary: plugin.summary,
      at: `${at.file}:${at.line}:${at.column}`,
      options: describeOptions(schema, valuesOf(loaded.options)),
    },
  };
}

function valuesOf(options: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof options === 'object' && options !== null ? Object.entries(options) : []);
}

async function readFigures(
  { description, loaded }: FixedPart,
  { registry, stageMeters }: DescribeSettings,
): Promise<PartDescription> {
  const declared = Object.entries(loaded.plugin.metrics ?? {});
  const meters = await Promise.all(
    declared.map(async ([name, { help, ofWorkers }]): Promise<MeterReading> => {
      const value = await registry.total(name);
      return { name: metricPrefix + name, help, value, ...(ofWorkers === undefined ? {} : { ofWorkers }) };
    }),
  );
  const meter = stageMeters.get(loaded.id);
  return { ...description, meters, ...(meter === undefined ? {} : { figures: meter.figures() }) };
}
