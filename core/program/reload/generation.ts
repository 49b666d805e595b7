import { createHash } from 'node:crypto';
import type { Secrets } from '../../base/secrets.js';
import type { Logger } from '../../base/logger.js';
import { decidingStages, setupOf } from '../../cache/keys.js';
import type { Serving } from '../../http/edge.js';
import type { Served } from '../../http/listener-plans.js';
import { buildPlugins, type Built, type HostFor } from '../../kernel/build.js';
import { Chain } from '../../kernel/chain.js';
import {
  Describer,
  secretsIn,
  type DescribeSettings,
  type StaticDescription,
} from '../../kernel/describe.js';
import { Units } from '../../kernel/lifecycle.js';
import type { LoadedPlugin, Pipeline } from '../../kernel/pipeline/types.js';
import type { Host } from '../../kernel/plugin/host.js';
import type { Lives } from '../../kernel/plugin/life.js';
import type { StageMeter } from '../../kernel/stage-meter.js';
import type { RequestObserver } from '../../kernel/telemetry/request-log.js';
import { createLimits } from '../../wire/limits/limits.js';
import type { NameLearner } from '../../victoria/names/name-learner.js';
import { Naming } from '../../victoria/names/naming.js';
import { withOtlpConfig } from '../../victoria/names/otlp-config.js';
import { builtInDefinitions } from '../../kernel/options/index.js';

/** Dependencies shared by the plugins of one pipeline, in addition to those of the process. */
type GenerationParts = Pick<Host, 'naming' | 'limits' | 'learner' | 'setup'>;

export interface GenerationDeps {
  readonly hostFor: (parts: GenerationParts) => HostFor;
  readonly meterFor: (stageId: string) => StageMeter;
  readonly lives: Lives;
  readonly describing: DescribeSettings;
  /** Secrets of the process's pipelines, which are redacted. */
  readonly secrets: Secrets;
  readonly log: Logger;
  /** Observers of the process, which precede those of plugins. */
  readonly observers: readonly RequestObserver[];
}

/** Everything created from one reading of the pipeline file. Plugins that are unchanged in the next one are reused there. */
export class Generation {
  readonly pipeline: Pipeline;
  readonly parts: GenerationParts;
  readonly hash: string;
  readonly units: Units;
  readonly chain: Chain;
  readonly describer: Describer;
  /** Set once it serves. */
  serving: Serving | undefined;
  readonly #built: Built;
  readonly #secrets: Secrets;
  readonly #observers: readonly RequestObserver[];

  /** Creates the plugins that are not live yet. An Error names the plugin that failed; nothing is left behind then. */
  constructor(pipeline: Pipeline, deps: GenerationDeps, learner: NameLearner) {
    this.pipeline = pipeline;
    this.#secrets = secretsIn(pipeline, deps.secrets);
    this.describer = new Describer(pipeline, deps.describing);
    const { fixed } = this.describer;
    this.hash = configHash(fixed);
    const parts = {
      naming: new Naming(withOtlpConfig(pipeline.names, pipeline.limits)),
      limits: createLimits({ ...pipeline.limits, requestTimeout: pipeline.server.httpWriteTimeout }),
      learner,
      setup: setupOf(fixed, pipeline.stages),
    };
    this.parts = parts;
    this.#observers = deps.observers;
    const { meterFor, lives } = deps;
    const hostFor = deps.hostFor(parts);
    this.#built = buildPlugins(pipeline, { hostFor, meterFor, lives, keyOf: keysOf(pipeline, parts, fixed) });
    this.units = new Units(this.#built.units, deps.log);
    this.chain = new Chain(this.#built.links);
  }

  /** True while a request, a tail or background work still needs it. */
  get isBusy(): boolean {
    return this.chain.isRunning || (this.serving?.open ?? 0) > 0;
  }

  served(memory: Served['memory']): Served {
    const { server, telemetry } = this.pipeline;
    const { handlers, routes, upgrades } = this.#built;
    const lists = [this.#observers, ...this.units.order.map(({ life }) => life.registered.observers)];
    return {
      server,
      telemetry,
      handlers,
      routes,
      upgrades,
      hideSecrets: this.#secrets.hide,
      run: this.chain.run,
      memory,
      observer: {
        started: (record) => {
          for (const list of lists) for (const observer of list) observer.started(record);
        },
        finished: (record, status, durationMs) => {
          for (const list of lists)
            for (const observer of list) observer.finished(record, status, durationMs);
        },
      },
    };
  }

  /** Stops the plugins that no other generation uses. */
  async end(): Promise<void> {
    await this.units.stop();
    this.chain.end();
  }
}

/**
 * The key of a plugin, which is reused by a reload that leaves the key unchanged: its own options, and the sections that it reads through
 * its host. For a cache also everything that its answers depend on, including secrets, so that it keeps no answers of another backend or
 * translation.
 */
function keysOf(
  pipeline: Pipeline,
  { setup }: GenerationParts,
  { stages: described }: StaticDescription,
): (loaded: LoadedPlugin) => string {
  const { names, limits, server, stages } = pipeline;
  const sections = digest([names, limits, server.httpWriteTimeout]);
  const behind = digest([
    setup,
    decidingStages(stages).map((stage) => {
      const of = described.find(({ id }) => id === stage.id)?.options ?? [];
      const neutral = new Set(of.filter(({ isNeutral }) => isNeutral).map(({ key }) => key));
      return [stage.id, stage.use, Object.entries(stage.options ?? {}).filter(([key]) => !neutral.has(key))];
    }),
  ]);
  return ({ id, plugin, options }) => {
    const isKeeper = plugin.kind === 'stage' && plugin.keepsAnswers === true;
    // A plugin that may exist only once cannot be replaced while it runs, and needs no sections.
    const isSingle = plugin.isSingle === true;
    return JSON.stringify([id, options, isSingle ? '' : sections, isKeeper ? behind : '']);
  };
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Flags that differ by replica: its identity and its addresses. */
const ofOneReplica: ReadonlySet<string> = new Set([
  'listen',
  'admin-listen',
  'metrics-listen',
  'peer-self',
  'peer-self-az',
  'otel-service-instance-id',
]);

/**
 * A hash of a pipeline as 16 hex digits: plugins in order, with all options in effect, whatever their source. Excluded are values of
 * secrets, since the hash is public, and values that differ between equivalent replicas: addresses, own names, files that they write.
 */
function configHash({ sections, stages, endpoints, services }: StaticDescription): string {
  const written = new Set(
    builtInDefinitions().flatMap(({ fileUse, flag }) => (fileUse === 'write' ? flag : [])),
  );
  const lists = [sections, stages, endpoints, services].map((parts) =>
    parts.map(({ name, options, ...part }) => [
      name,
      'id' in part ? part.id : null,
      options
        .filter(({ flag }) => flag === undefined || !(ofOneReplica.has(flag) || written.has(flag)))
        .map(({ key, value, isSecret, isSet }) => [key, isSecret ? isSet : (value ?? null)]),
    ]),
  );
  return createHash('sha256').update(JSON.stringify(lists)).digest('hex').slice(0, 16);
}
