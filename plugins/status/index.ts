import { jsonAnswer as json, textAnswer as text } from '../../core/wire/answer/finished.js';
import { apiError, defineEndpoint, type RouteHandler } from '../../core/plugin/index.js';
import type { StatusOptions } from '../../core/base/options.gen.js';
import { buildInfo } from './build-info.js';

/**
 * Routes about the proxy itself: probes, build information, the blocked write, metrics
 * (docs/protocol/answers.md#bodies-by-endpoint).
 */
export default defineEndpoint<StatusOptions>({
  name: 'status',
  summary: 'Probes, build information, /config, the blocked push route and /metrics.',
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
