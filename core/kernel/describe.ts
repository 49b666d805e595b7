import { Secrets } from '../base/secrets.js';
import { describeOptions, secretValues } from './options/describe.js';
import { readBuiltInSchemas, type OptionSchema, withSecretFiles } from './options/index.js';
import type { LoadedPlugin, Pipeline } from './pipeline/types.js';
import type {
  MeterReading,
  PartDescription,
  PipelineDescription,
  SectionDescription,
} from './plugin/host.js';
import type { MeterRegistry } from './telemetry/meters.js';
import { metricPrefix } from './telemetry/names.js';
import type { StageMeter } from './stage-meter.js';

export interface DescribeSettings {
  readonly registry: MeterRegistry;
  readonly stageMeters: ReadonlyMap<string, StageMeter>;
  /** Start of the process in Unix milliseconds. */
  readonly startedMs: number;
}

/** The parts of a pipeline, without anything that changes while it runs. */
export type StaticDescription = Pick<PipelineDescription, 'sections'> &
  Readonly<
    Record<'stages' | 'endpoints' | 'services', readonly Omit<PartDescription, 'meters' | 'figures'>[]>
  >;

export class Describer {
  readonly #file: string;
  readonly #settings: DescribeSettings;
  readonly #fixed: Fixed;

  constructor(pipeline: Pipeline, settings: DescribeSettings) {
    this.#file = pipeline.file;
    this.#settings = settings;
    this.#fixed = describeFixed(pipeline);
  }

  get fixed(): StaticDescription {
    const { stages, endpoints, services, sections } = this.#fixed;
    const plain = (parts: readonly FixedPart[]): StaticDescription['stages'] =>
      parts.map(({ description }) => description);
    return { sections, stages: plain(stages), endpoints: plain(endpoints), services: plain(services) };
  }

  /** The description with the current figures. */
  async describe(): Promise<PipelineDescription> {
    const withFigures = (parts: readonly FixedPart[]): Promise<readonly PartDescription[]> =>
      Promise.all(parts.map((part) => readFigures(part, this.#settings)));
    const [stages, endpoints, services] = await Promise.all([
      withFigures(this.#fixed.stages),
      withFigures(this.#fixed.endpoints),
      withFigures(this.#fixed.services),
    ]);
    const { startedMs } = this.#settings;
    return { file: this.#file, startedMs, stages, endpoints, services, sections: this.#fixed.sections };
  }
}

/** The description of a plugin without its figures, and the metrics it declares. */
interface FixedPart {
  readonly description: Omit<PartDescription, 'meters' | 'figures'>;
  readonly loaded: LoadedPlugin;
}
interface Fixed {
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
    stages: pipeline.stages.map(describe),
    endpoints: pipeline.endpoints.map(describe),
    services: pipeline.services.map(describe),
    sections: [...sections].map(([name, options]) => {
      const schema = schemas.get(name) ?? {};
      return { name, summary: schema.description ?? '', options: describeOptions(schema, valuesOf(options)) };
    }),
  };
}

/** The secrets in the options of a pipeline, added to those of earlier ones. */
export function secretsIn(pipeline: Pipeline, secrets = new Secrets()): Secrets {
  const schemas = readBuiltInSchemas();
  const { server, names, limits, telemetry, stages, endpoints, services } = pipeline;
  for (const [name, options] of Object.entries({ server, names, limits, telemetry }))
    secrets.addAll(secretValues(schemas.get(name) ?? {}, options));
  for (const loaded of [...stages, ...endpoints, ...services])
    secrets.addAll(secretValues(schemaOf(loaded, schemas), loaded.options));
  return secrets;
}

function schemaOf({ use, plugin }: LoadedPlugin, schemas: ReadonlyMap<string, OptionSchema>): OptionSchema {
  // A plugin's own schema was compiled when the file was loaded; the type only names the parts used here.
  const own: OptionSchema | undefined = plugin.schema;
  return schemas.get(use) ?? withSecretFiles(own ?? {});
}

function describePart(loaded: LoadedPlugin, schemas: ReadonlyMap<string, OptionSchema>): FixedPart {
  const { id, plugin, at } = loaded;
  return {
    loaded,
    description: {
      id,
      name: plugin.name,
      summary: plugin.summary,
      at: `${at.file}:${at.line}:${at.column}`,
      options: describeOptions(schemaOf(loaded, schemas), valuesOf(loaded.options)),
      ...(plugin.kind === 'stage'
        ? { passing: { needs: plugin.needs, gives: plugin.gives, rest: plugin.rest } }
        : {}),
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
      return { name: metricPrefix + name, help, value: await registry.total(name), ofWorkers };
    }),
  );
  const meter = stageMeters.get(loaded.id);
  return { ...description, meters, figures: meter?.figures() };
}
