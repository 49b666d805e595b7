import type { MetricSpecs } from '../base/meters.js';
import { Secrets } from '../base/secrets.js';
import { describeOptions, optionValues, secretValues } from './options/describe.js';
import { readBuiltInSchemas, type OptionSchema, withSecretFiles } from './options/index.js';
import { placeText } from './pipeline/located.js';
import { mapPlugins, pluginsOf, sectionsOf, type LoadedPlugin, type Pipeline } from './pipeline/types.js';
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

type FixedPart = Omit<PartDescription, 'meters' | 'figures'>;

/** The parts of a pipeline, without anything that changes while it runs. */
export type StaticDescription = Pick<PipelineDescription, 'sections'> &
  Readonly<Record<'stages' | 'endpoints' | 'services', readonly FixedPart[]>>;

export class Describer {
  readonly fixed: StaticDescription;
  readonly #file: string;
  /** The metrics that each plugin declares. */
  readonly #metrics: ReadonlyMap<string, MetricSpecs>;
  readonly #settings: DescribeSettings;

  constructor(pipeline: Pipeline, settings: DescribeSettings) {
    this.#file = pipeline.file;
    this.#settings = settings;
    this.#metrics = new Map(pluginsOf(pipeline).map(({ id, plugin }) => [id, plugin.metrics ?? {}]));
    const schemas = readBuiltInSchemas();
    this.fixed = {
      ...mapPlugins(pipeline, (loaded) => describePart(loaded, schemas)),
      sections: sectionsOf(pipeline).map(([name, options]): SectionDescription => {
        const schema = schemas.get(name) ?? {};
        const { description: summary = '' } = schema;
        return { name, summary, options: describeOptions(schema, optionValues(options)) };
      }),
    };
  }

  /** The description with the current figures. */
  async describe(): Promise<PipelineDescription> {
    const withFigures = (parts: readonly FixedPart[]): Promise<readonly PartDescription[]> =>
      Promise.all(parts.map((part) => this.#withFigures(part)));
    const [stages, endpoints, services] = await Promise.all([
      withFigures(this.fixed.stages),
      withFigures(this.fixed.endpoints),
      withFigures(this.fixed.services),
    ]);
    const { startedMs } = this.#settings;
    return { file: this.#file, startedMs, stages, endpoints, services, sections: this.fixed.sections };
  }

  async #withFigures(part: FixedPart): Promise<PartDescription> {
    const { registry, stageMeters } = this.#settings;
    const meters = await Promise.all(
      Object.entries(this.#metrics.get(part.id) ?? {}).map(
        async ([name, { help, ofWorkers }]): Promise<MeterReading> => {
          return { name: metricPrefix + name, help, value: await registry.total(name), ofWorkers };
        },
      ),
    );
    return { ...part, meters, figures: stageMeters.get(part.id)?.figures() };
  }
}

/** The secrets in the options of a pipeline, added to those of earlier ones. */
export function secretsIn(pipeline: Pipeline, secrets = new Secrets()): Secrets {
  const schemas = readBuiltInSchemas();
  for (const [name, options] of sectionsOf(pipeline))
    secrets.addAll(secretValues(schemas.get(name) ?? {}, options));
  for (const loaded of pluginsOf(pipeline))
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
    id,
    name: plugin.name,
    summary: plugin.summary,
    at: placeText(at),
    options: describeOptions(schemaOf(loaded, schemas), optionValues(loaded.options)),
    ...(plugin.kind === 'stage'
      ? { passing: { needs: plugin.needs, gives: plugin.gives, rest: plugin.rest } }
      : {}),
  };
}
