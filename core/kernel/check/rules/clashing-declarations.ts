import type { MetricSpecs } from '../../../base/meters.js';
import type { DraftEntry } from '../../pipeline/draft.js';
import type { OwnRoute } from '../../plugin/contract.js';
import { definitionsOf, servingFlags, type OptionSchema, variableOf } from '../../options/index.js';
import { shapeOfMetric } from '../../telemetry/meters.js';
import { houseMetrics } from '../../telemetry/metrics-table.js';
import { processMetrics } from '../../telemetry/process-metrics.js';
import { OwnRoutes } from '../../own-routes.js';
import type { TextRule } from '../rule.js';

/** R037: what plugins declare is not declared by another one in another way. */
export const clashingDeclarations: TextRule = {
  id: 'R037',
  title: 'plugins do not declare the same thing differently',
  tier: 'meaning',
  severity: 'error',
  docs: 'Two plugins of the file declare a metric of the same name with different types, labels or buckets, own routes with the same id or path, or options with the same flag; or a plugin declares a metric or a flag that ref-proxy has already. Rename one of the two.',
  check(draft) {
    const clashes = new Clashes(draft.schemas);
    return draft.entries.flatMap((entry) => {
      const message = clashes.of(entry);
      return message === undefined
        ? []
        : [{ at: entry.useAt, message: `plugin "${entry.use}" ${message}`, fix: 'rename it in the plugin' }];
    });
  },
};

/** Flags of the commands themselves. */
const programFlags = [...servingFlags, 'help', 'h', 'version'];

/** What has been declared so far, in the order of the file. */
class Clashes {
  readonly #metrics = new Map<string, string>();
  /** By the environment variable: two flags with the same one could not be told apart there. */
  readonly #flags = new Map<string, { readonly flag: string; readonly owner: string }>();
  readonly #routes = new OwnRoutes();
  /** Names of the plugins of the site whose flags are known. */
  readonly #sites = new Set<string>();
  readonly #isBuiltIn: (use: string) => boolean;

  constructor(schemas: ReadonlyMap<string, OptionSchema>) {
    this.#isBuiltIn = (use) => schemas.has(use);
    for (const [name, spec] of Object.entries(houseMetrics)) this.#metrics.set(name, shapeOfMetric(spec));
    // These are read from the process and cannot be shared.
    for (const name of Object.keys(processMetrics())) this.#metrics.set(name, 'of the process');
    for (const flag of programFlags) this.#declare(flag, 'ref-proxy');
    for (const [owner, schema] of schemas)
      for (const { flag } of definitionsOf(owner, schema)) if (flag !== undefined) this.#declare(flag, owner);
  }

  /** The first clash of an entry with those before it. */
  of({ load, use, isEnabled }: DraftEntry): string | undefined {
    if (load.kind !== 'loaded') return undefined;
    const { plugin, schema } = load;
    const flag = this.#isBuiltIn(use) ? undefined : this.#flagClash(plugin.name, schema);
    if (flag !== undefined || !isEnabled) return flag;
    const routes = plugin.kind === 'endpoint' ? (plugin.ownRoutes ?? []) : [];
    return this.#metricClash(plugin.metrics ?? {}) ?? this.#routeClash(routes);
  }

  #flagClash(name: string, schema: OptionSchema): string | undefined {
    // A plugin that stands twice has its flags once.
    if (this.#sites.has(name)) return undefined;
    this.#sites.add(name);
    for (const { flag } of definitionsOf(name, schema)) {
      if (flag === undefined) continue;
      const other = this.#flags.get(variableOf(flag));
      if (other?.flag === flag) return `declares the flag -${flag}, which "${other.owner}" has`;
      if (other !== undefined)
        return `declares the flag -${flag}, whose variable ${variableOf(flag)} is that of -${other.flag} of "${other.owner}"`;
      this.#declare(flag, name);
    }
    return undefined;
  }

  #declare(flag: string, owner: string): void {
    this.#flags.set(variableOf(flag), { flag, owner });
  }

  #metricClash(metrics: MetricSpecs): string | undefined {
    for (const [name, spec] of Object.entries(metrics)) {
      const shape = shapeOfMetric(spec);
      if ((this.#metrics.get(name) ?? shape) !== shape)
        return `declares the metric "${name}" in another way than it is declared before`;
      this.#metrics.set(name, shape);
    }
    return undefined;
  }

  #routeClash(routes: readonly OwnRoute[]): string | undefined {
    try {
      this.#routes.add(routes);
      return undefined;
    } catch (error) {
      return `cannot have its routes: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}
