import { packageBuiltIns } from '../../kernel/pipeline/index.js';
import type { MetricSpecs } from '../../base/meters.js';
import type { Plugin } from '../../kernel/plugin/contract.js';
import { metricPrefix } from '../../kernel/telemetry/names.js';
import { coreMetrics, builtInMetrics, workerMetrics } from '../../kernel/telemetry/metrics-table.js';
import { cell } from './cells.js';
import { processMetrics } from '../../kernel/telemetry/process-metrics.js';

const head = `# Metrics

For operators. Generated from the declarations in the code by \`npm run generate\`; do not edit.

\`/metrics\` exists with \`-server.register-instrumentation=true\`, on \`-metrics-listen\` when that is set. Metrics by tenant and client
are only filled with \`-metrics.export-sensitive-labels=true\`. A metric holds at most 2000 combinations of label values; what comes
after that shares the values \`__overflow__\`.

With several workers (fleet.md) every metric is the sum of theirs and of the first process, or what stands behind its type: the \`min\`,
\`max\` or \`average\` of them.

A dashboard and alert rules over these metrics are in \`examples/monitoring\`, what to do about each alert in [runbooks](runbooks/README.md).

Labels: \`system\` and \`direction\` are \`ref\` and \`downstream\` for requests of clients, \`backend\` and \`upstream\` for calls to VictoriaLogs;
\`endpoint\` is the id of the route, \`route\` its path.
`;

/** docs/metrics.md: every declared metric, grouped by its owner. */
export async function generateMetricsDoc(): Promise<string> {
  const parts = [
    part('Core', coreMetrics),
    part('Several processes (`-workers`)', workerMetrics),
    part('Process (each also without the prefix)', processMetrics()),
  ];
  for (const [name, metrics] of await pluginMetrics()) parts.push(part(`Plugin \`${name}\``, metrics));
  return [head, ...parts].join('\n');
}

/** Every metric that a proxy with the built-in plugins may expose. */
export async function allMetrics(): Promise<MetricSpecs> {
  const ofPlugins = (await pluginMetrics()).map(([, metrics]) => Object.entries(metrics));
  return {
    ...builtInMetrics,
    ...processMetrics(),
    ...Object.fromEntries(ofPlugins.flat()),
  };
}

async function pluginMetrics(): Promise<readonly (readonly [string, MetricSpecs])[]> {
  const builtIns = packageBuiltIns();
  const found: (readonly [string, MetricSpecs])[] = [];
  for (const name of builtIns.names) {
    const metrics = asPlugin(await builtIns.load(name))?.metrics ?? {};
    if (Object.keys(metrics).length > 0) found.push([name, metrics]);
  }
  return found;
}

/** A test checks that a built-in's default export is a plugin; anything else has no metrics to document. */
function asPlugin(exported: unknown): Plugin | undefined {
  return typeof exported === 'object' && exported !== null && 'kind' in exported
    ? (exported as Plugin)
    : undefined;
}

function part(title: string, metrics: MetricSpecs): string {
  const rows = Object.entries(metrics).map(([name, spec]) => {
    const labels = (spec.labels ?? []).map((label) => `\`${label}\``).join(', ');
    return `| \`${metricPrefix}${name}\` | ${[spec.type, ...(spec.ofWorkers === undefined ? [] : [spec.ofWorkers])].join(', ')} | ${labels} | ${cell(spec.help)} |`;
  });
  return [`## ${title}`, '', '| Metric | Type | Labels | Meaning |', '|---|---|---|---|', ...rows, ''].join(
    '\n',
  );
}
