import { jsonAnswer as json, textAnswer as text } from '../../core/wire/answer/encode.js';
import { apiError, defineEndpoint, type Host, type RouteHandler } from '../../core/plugin/index.js';
import type { StatusOptions } from '../../core/base/options.gen.js';

/** The configured log level of the telemetry section. */
async function logLevelOf(host: Pick<Host, 'describePipeline'>): Promise<string> {
  const { sections } = await host.describePipeline();
  const options = sections.find(({ name }) => name === 'telemetry')?.options ?? [];
  return options.find(({ key }) => key === 'logLevel')?.value ?? 'info';
}

/** Routes about the proxy itself: probes, build information, the rejected push, metrics (docs/protocol/answers.md#bodies-by-endpoint). */
export default defineEndpoint<StatusOptions>({
  name: 'status',
  summary: 'Health checks, build information, /config, /metrics and the refusal of pushes.',
  create(options, host) {
    const alive: RouteHandler = () => Promise.resolve(text(200, 'alive'));
    const healthy: RouteHandler = () => Promise.resolve(text(200, 'ok'));
    return {
      routes: new Map<string, RouteHandler>([
        [
          'ready',
          async () => {
            const [reason] = await host.readiness();
            return reason === undefined ? text(200, 'ready') : text(503, reason);
          },
        ],
        ['alive', alive],
        ['livez', alive],
        ['health', healthy],
        ['healthz', healthy],
        ['buildinfo', () => Promise.resolve(json(buildInfo(options.version)))],
        ['services', () => Promise.resolve(text(200, 'ref-proxy => Running\n'))],
        ['log_level', async () => json({ message: `Current log level is ${await logLevelOf(host)}` })],
        // There is no ring of ingesters, and compaction deletes nothing, so no results belong to an older generation.
        [
          'ring',
          () => Promise.resolve(json({ shards: [], now: new Date(host.clock.nowMs()).toISOString() })),
        ],
        ['cache_generation', () => Promise.resolve(json(''))],
        ['config', () => Promise.resolve(text(200, '# ref-proxy', 'application/yaml'))],
        ['push', () => Promise.reject(apiError('writeBlocked', {}))],
        [
          'metrics',
          async () => {
            const { contentType, text: exposition } = await host.exposeMetrics();
            return text(200, exposition, contentType);
          },
        ],
      ]),
    };
  },
});

/** Loki's build information: its flat keys, and the same under `data` for Prometheus-style readers. */
function buildInfo(version: string): object {
  const info = {
    version,
    revision: 'ref-proxy',
    branch: 'main',
    buildUser: '',
    buildDate: '',
    goVersion: process.version,
  };
  return { ...info, status: 'success', data: info };
}
