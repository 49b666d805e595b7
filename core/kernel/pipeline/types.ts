import { CORE_SECTIONS } from '../options/index.js';
import type { EndpointPlugin, Plugin, ServicePlugin, StagePlugin } from '../plugin/contract.js';
import type { Complaint, SourcePosition } from './located.js';
import type { LimitsOptions, NamesOptions, ServerOptions, TelemetryOptions } from '../../base/options.gen.js';

export type { SourcePosition } from './located.js';

/** One finding of the checker. */
export interface Finding extends Complaint {
  /** `R001` ..; docs/checker.md explains each. */
  readonly rule: string;
  readonly severity: 'error' | 'warning';
}

/** One entry of stages, endpoints or services, with its plugin loaded and its options resolved (flag, environment, YAML, default). */
export interface LoadedPlugin<Kind extends Plugin = Plugin> {
  readonly id: string;
  /** As written in the file: a built-in name, a path or a package. */
  readonly use: string;
  readonly plugin: Kind;
  /** Options that are valid against the plugin's schema, with defaults, and durations in milliseconds. */
  readonly options: unknown;
  readonly at: SourcePosition;
  /** Set if its file has changed since this process loaded it; a module is only loaded once. */
  readonly isOutdated?: true | undefined;
}

/** A pipeline that was read again, or the reasons why it cannot be started; both may have warnings. */
export interface Reread {
  readonly pipeline?: Pipeline;
  readonly findings: readonly Finding[];
}

/** A pipeline file, parsed, checked and resolved: everything that the kernel needs to start. */
export interface Pipeline {
  readonly file: string;
  readonly server: ServerOptions;
  readonly names: NamesOptions;
  /** Reads everything again from its sources: flags, environment and file. */
  readonly reread?: () => Promise<Reread>;
  /** The files that it was read from: the pipeline file, and those that it includes. */
  readonly files?: readonly string[];
  readonly limits: LimitsOptions;
  readonly telemetry: TelemetryOptions;
  readonly stages: readonly LoadedPlugin<StagePlugin>[];
  readonly endpoints: readonly LoadedPlugin<EndpointPlugin>[];
  readonly services: readonly LoadedPlugin<ServicePlugin>[];
}

/** The sections of a pipeline by name. */
export function sectionsOf(pipeline: Pipeline): readonly (readonly [name: string, options: object])[] {
  return CORE_SECTIONS.map((name) => [name, pipeline[name]] as const);
}

/** All plugins of a pipeline. */
export function pluginsOf({ stages, endpoints, services }: Pipeline): readonly LoadedPlugin[] {
  return [...stages, ...endpoints, ...services];
}

/** The lists of plugins of a pipeline, with something made of each plugin. */
export function mapPlugins<Made>(
  { stages, endpoints, services }: Pipeline,
  make: (loaded: LoadedPlugin) => Made,
): Readonly<Record<'stages' | 'endpoints' | 'services', readonly Made[]>> {
  return { stages: stages.map(make), endpoints: endpoints.map(make), services: services.map(make) };
}
