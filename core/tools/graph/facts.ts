import { describeOptions, optionValues } from '../../kernel/options/describe.js';
import { readBuiltInSchemas, type OptionSchema } from '../../kernel/options/index.js';
import type { LoadedPlugin, Pipeline } from '../../kernel/pipeline/index.js';
import { sectionsOf } from '../../kernel/pipeline/types.js';
import type { RestUse, StagePlugin } from '../../kernel/plugin/contract.js';

/** An option with a non-default value, both as texts; secrets are hidden. */
export interface ChangedOption {
  readonly key: string;
  readonly value: string;
}

/** A plugin or a section of a graph. */
export interface GraphPart {
  readonly id: string;
  /** As written in the file; mostly equal to the id. */
  readonly use: string;
  readonly changed: readonly ChangedOption[];
}

export interface StagePart extends GraphPart {
  /** Number of the stage, starting at 1. */
  readonly number: number;
  readonly rest: RestUse;
  /** The required slots, each with the number of the stage that provides it. */
  readonly needs: readonly { readonly slot: string; readonly from: number | undefined }[];
  readonly gives: readonly string[];
}

/** The data of a pipeline's graph. */
export interface PipelineGraph {
  readonly file: string;
  readonly stages: readonly StagePart[];
  readonly endpoints: readonly GraphPart[];
  readonly services: readonly GraphPart[];
  /** Sections with options that differ from their defaults. */
  readonly sections: readonly GraphPart[];
}

export function graphOf(pipeline: Pipeline): PipelineGraph {
  const schemas = readBuiltInSchemas();
  const part = ({ id, use, plugin, options }: LoadedPlugin): GraphPart => {
    // Compiled when the file was loaded; the type only names the parts used here.
    const own: OptionSchema | undefined = plugin.schema;
    return { id, use, changed: changedOptions(schemas.get(use) ?? own ?? {}, options) };
  };
  const sections = sectionsOf(pipeline).map(([name, options]) => ({
    id: name,
    use: name,
    changed: changedOptions(schemas.get(name) ?? {}, options),
  }));
  return {
    file: pipeline.file,
    stages: stageParts(pipeline.stages, part),
    endpoints: pipeline.endpoints.map(part),
    services: pipeline.services.map(part),
    sections: sections.filter(({ changed }) => changed.length > 0),
  };
}

function stageParts(
  stages: readonly LoadedPlugin<StagePlugin>[],
  part: (loaded: LoadedPlugin) => GraphPart,
): readonly StagePart[] {
  const givers = new Map<string, number>();
  return stages.map((loaded, index) => {
    const { plugin } = loaded;
    const number = index + 1;
    const needs = plugin.needs.map((slot) => ({ slot, from: givers.get(slot) }));
    for (const slot of plugin.gives) givers.set(slot, number);
    return { ...part(loaded), number, rest: plugin.rest, needs, gives: plugin.gives };
  });
}

function changedOptions(schema: OptionSchema, options: unknown): readonly ChangedOption[] {
  return describeOptions(schema, optionValues(options))
    .filter(({ isSet, isDefault }) => isSet && !isDefault)
    .map(({ key, value }) => ({ key, value: value ?? '(hidden)' }));
}

/** `translate`, or `front-guard (guard)` if id and use differ. */
export function titleOf({ id, use }: GraphPart): string {
  return id === use ? id : `${id} (${use})`;
}

/** Describes the calls of later stages by a stage that does not simply pass the request on. */
export function habitOf({ rest }: StagePart): string {
  switch (rest) {
    case 'never':
      return 'answers';
    case 'maybe':
      return 'may answer';
    case 'many':
      return 'may ask several times';
    case 'once':
      return '';
  }
}
