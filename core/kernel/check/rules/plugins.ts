import type { MetricSpecs } from '../../../base/meters.js';
import { definitionsOf, servingFlags, type OptionSchema, variableOf } from '../../options/index.js';
import { OwnRoutes } from '../../own-routes.js';
import type { DraftEntry, ListName } from '../../pipeline/draft.js';
import type { OwnRoute, Plugin } from '../../plugin/contract.js';
import { shapeOfMetric } from '../../telemetry/meters.js';
import { builtInMetrics } from '../../telemetry/metrics-table.js';
import { processMetrics } from '../../telemetry/process-metrics.js';
import { enabledPlugins, findOption } from '../option-lookup.js';
import { textRules, type Complaint } from '../rule.js';

export const pluginsRules = textRules('meaning', [
  {
    id: 'R020',
    title: 'a plugin exists',
    docs: '`use` is the name of a built-in plugin, the path of a module (`./x.js` or `../x.js`, relative to the directory of the file, or absolute), or an npm package that is installed in the directory of the file or above.',
    check: (draft) =>
      draft.entries.flatMap(({ load, useAt: at }) =>
        load.kind === 'unknown' ? { at, message: load.message, fix: load.fix } : [],
      ),
  },
  {
    id: 'R021',
    title: 'a module is a valid plugin',
    docs: 'The module exists, but it fails to load, has no default export made with defineStage, defineEndpoint or defineService, has an invalid schema, or declares invalid metrics or routes: names, types, labels, or paths that are taken. Checking a file runs the top-level code of its modules.',
    check: (draft) =>
      draft.entries.flatMap(({ load, use, useAt: at }) =>
        load.kind === 'broken' ? { at, message: `plugin "${use}" ${load.message}`, fix: load.fix } : [],
      ),
  },
  {
    id: 'R022',
    title: 'a plugin is in the list of its kind',
    docs: 'Stages belong in `stages`, endpoint plugins in `endpoints`, service plugins in `services`.',
    check: (draft) =>
      draft.entries.flatMap(({ load, list, useAt }) => {
        if (load.kind !== 'loaded') return [];
        const { kind, name } = load.plugin;
        const right = listOf[kind];
        if (right === list) return [];
        const what = kind === 'endpoint' ? 'an endpoint' : `a ${kind}`;
        const message = `"${name}" is ${what} plugin and does not belong in "${list}"`;
        return { at: useAt, message, fix: `move it to "${right}"` };
      }),
  },
  {
    id: 'R023',
    title: 'an id is unique',
    docs: "Logs, metrics and messages name an entry by its id, which is the plugin's name unless `id` is set. A plugin that is listed twice needs an `id` in one entry. Disabled entries count too.",
    check(draft) {
      const first = new Map<string, DraftEntry>();
      const complaints: Complaint[] = [];
      for (const entry of draft.entries) {
        const before = first.get(entry.id);
        if (before === undefined) {
          first.set(entry.id, entry);
          continue;
        }
        const fix = entry.idAt === entry.useAt ? 'give it a unique "id"' : 'choose another id';
        const message = `id "${entry.id}" is already used by the entry on line ${before.at.line}`;
        complaints.push({ at: entry.idAt, message, fix });
      }
      return complaints;
    },
  },
  {
    id: 'R037',
    title: 'declarations of plugins do not conflict',
    docs: 'Two plugins of the file declare a metric with the same name but different types, labels or buckets, routes with the same id or path, or options with the same flag; or a plugin declares a metric or a flag that ref-proxy already has. Rename one of the two.',
    check(draft) {
      const clashes = new Clashes(draft.schemas);
      return draft.entries.flatMap((entry) => {
        const clash = clashes.of(entry);
        if (clash === undefined) return [];
        const message = `plugin "${entry.use}" ${clash}`;
        return { at: entry.useAt, message, fix: 'rename it in the plugin' };
      });
    },
  },
  {
    id: 'R053',
    title: 'every plugin can run in several workers',
    docs: 'With `-workers` above 1, each worker runs all plugins. Some, such as the embedded backend, hold state that all requests need and can run only once: run the backend separately (`ref-proxy backend`), or use one worker.',
    check(draft) {
      const workers = findOption(draft, 'workers');
      if (workers === undefined || String(workers.value) === '1') return [];
      return enabledPlugins(draft)
        .filter(({ plugin }) => plugin.isSingle === true)
        .map(({ entry: { use, useAt: at } }) => ({
          at,
          message: `plugin "${use}" cannot run in several workers (${workers.name} is ${String(workers.value)})`,
          fix: 'remove it, or set workers (-workers) to 1',
        }));
    },
  },
]);

const listOf: Readonly<Record<Plugin['kind'], ListName>> = {
  stage: 'stages',
  endpoint: 'endpoints',
  service: 'services',
};

/** Flags of the commands themselves. */
const programFlags = [...servingFlags, 'help', 'h', 'version'];

/** Declarations so far, in file order. */
class Clashes {
  readonly #metrics = new Map<string, string>();
  /** By environment variable, since two flags with the same variable could not be distinguished there. */
  readonly #flags = new Map<string, { readonly flag: string; readonly owner: string }>();
  readonly #routes = new OwnRoutes();
  /** Names of the site's plugins whose flags are already known. */
  readonly #sites = new Set<string>();
  readonly #isBuiltIn: (use: string) => boolean;

  constructor(schemas: ReadonlyMap<string, OptionSchema>) {
    this.#isBuiltIn = (use) => schemas.has(use);
    for (const [name, spec] of Object.entries(builtInMetrics)) this.#metrics.set(name, shapeOfMetric(spec));
    // These metrics are read from the process and cannot be shared.
    for (const name of Object.keys(processMetrics())) this.#metrics.set(name, 'of the process');
    for (const flag of programFlags) this.#declare(flag, 'ref-proxy');
    for (const [owner, schema] of schemas)
      for (const { flag } of definitionsOf(owner, schema)) if (flag !== undefined) this.#declare(flag, owner);
  }

  /** The first conflict of an entry with earlier ones. */
  of({ load, use, isEnabled }: DraftEntry): string | undefined {
    if (load.kind !== 'loaded') return undefined;
    const { plugin, schema } = load;
    const flag = this.#isBuiltIn(use) ? undefined : this.#flagClash(plugin.name, schema);
    if (flag !== undefined || !isEnabled) return flag;
    const routes = plugin.kind === 'endpoint' ? (plugin.ownRoutes ?? []) : [];
    return this.#metricClash(plugin.metrics ?? {}) ?? this.#routeClash(routes);
  }

  #flagClash(name: string, schema: OptionSchema): string | undefined {
    // A plugin that is listed twice declares its flags once.
    if (this.#sites.has(name)) return undefined;
    this.#sites.add(name);
    for (const { flag } of definitionsOf(name, schema)) {
      if (flag === undefined) continue;
      const other = this.#flags.get(variableOf(flag));
      if (other?.flag === flag) return `declares the flag -${flag}, which "${other.owner}" already has`;
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
        return `declares the metric "${name}", which is already declared with a different type, labels or buckets`;
      this.#metrics.set(name, shape);
    }
    return undefined;
  }

  #routeClash(routes: readonly OwnRoute[]): string | undefined {
    try {
      this.#routes.add(routes);
      return undefined;
    } catch (error) {
      return `declares routes that conflict: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}
