import type { Pipeline } from '../kernel/pipeline/index.js';
import { demoWelcome } from './demo.js';
import type { Io } from './io.js';
import { servePipeline } from './serve.js';

/** Runs the demo: the proxy over an embedded backend with sample logs. */
export function demo(args: readonly string[], io: Io): Promise<number> {
  // A record per request would drown the demo's own output.
  return servePipeline(
    ['-log-level=warn', ...args],
    io,
    { name: 'demo', pipeline: 'demo.yaml' },
    (proxy, pipeline) => {
      const { main, admin = main } = proxy.urls;
      io.out(demoWelcome(main, admin, backendUrlOf(pipeline), pipeline.file));
    },
  );
}

function backendUrlOf(pipeline: Pipeline): string {
  const options = pipeline.services.find((loaded) => loaded.plugin.name === 'embedded-backend')?.options;
  const listen = new Map<string, unknown>(Object.entries(options ?? {})).get('listen');
  return typeof listen === 'string' ? `http://${listen.startsWith(':') ? 'localhost' : ''}${listen}` : 'none';
}
