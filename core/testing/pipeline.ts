import type { LoadedPlugin, Pipeline } from '../kernel/pipeline/types.js';
import type { EndpointPlugin, Plugin, ServicePlugin, StagePlugin } from '../kernel/plugin/contract.js';
import { limitsOptions, namesOptions, serverOptions, telemetryOptions } from './options.js';

/** A plugin in a test pipeline: alone, or with its id and resolved options. */
export type Placed<Kind extends Plugin> =
  Kind | { readonly plugin: Kind; readonly id?: string; readonly options?: unknown };

export interface PipelineSettings {
  readonly stages?: readonly Placed<StagePlugin>[];
  readonly endpoints?: readonly Placed<EndpointPlugin>[];
  readonly services?: readonly Placed<ServicePlugin>[];
  /** Options of the core sections, as in YAML. By default the listeners use free loopback ports. */
  readonly server?: Readonly<Record<string, unknown>>;
  readonly names?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly telemetry?: Readonly<Record<string, unknown>>;
}

/** A pipeline of the given plugins, without a file. */
export function makePipeline(settings: PipelineSettings): Pipeline {
  return {
    file: 'made-up.yaml',
    server: serverOptions({ listen: '127.0.0.1:0', adminListen: '127.0.0.1:0', ...settings.server }),
    names: namesOptions(settings.names),
    limits: limitsOptions(settings.limits),
    telemetry: telemetryOptions(settings.telemetry),
    stages: (settings.stages ?? []).map(place<StagePlugin>),
    endpoints: (settings.endpoints ?? []).map(place<EndpointPlugin>),
    services: (settings.services ?? []).map(place<ServicePlugin>),
  };
}

function place<Kind extends Plugin>(placed: Placed<Kind>, index: number): LoadedPlugin<Kind> {
  const entry: { readonly plugin: Kind; readonly id?: string; readonly options?: unknown } =
    'plugin' in placed ? placed : { plugin: placed };
  const { plugin } = entry;
  return {
    id: entry.id ?? plugin.name,
    use: plugin.name,
    plugin,
    options: entry.options ?? {},
    at: { file: 'made-up.yaml', line: index + 1, column: 1, length: 1 },
  };
}
