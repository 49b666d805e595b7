import { parseListenAddress } from '../../core/base/listen-address.js';
import { describeListenError, isListenError } from '../../core/http/listener.js';
import { describeSystemError } from '../../core/base/errors/system-error.js';
import { startDevBackend, type DevBackend } from './dev-backend.js';
import type { EmbeddedBackendOptions } from '../../core/base/options.gen.js';
import { defineService } from '../../core/plugin/index.js';

/** Runs the development backend inside the process, so that a pipeline needs no VictoriaLogs (docs/embedded-backend.md). */
export default defineService<EmbeddedBackendOptions>({
  name: 'embedded-backend',
  isSingle: true,
  summary: 'A small in-process backend that implements the VictoriaLogs API, for development and the demo.',
  create(options, host) {
    let backend: DevBackend | undefined;
    return {
      async start() {
        const address = parseListenAddress(options.listen);
        if (address === undefined) throw new Error(`not a listen address: ${options.listen}`);
        const { host: hostname = '0.0.0.0', port } = address;
        try {
          backend = await startDevBackend({
            host: hostname,
            port,
            maxBytes: options.maxBytes,
            faults: options.faults,
            ...(options.dataPath === undefined ? {} : { dataDir: options.dataPath }),
          });
        } catch (error) {
          throw new Error(whyNot(options, error), { cause: error });
        }
        host.log.info('embedded backend listening', { 'server.address': backend.url });
      },
      ready: () => (backend === undefined ? 'embedded backend not started' : undefined),
      async stop() {
        await backend?.close();
        backend = undefined;
      },
    };
  },
});

function whyNot({ listen, dataPath }: EmbeddedBackendOptions, error: unknown): string {
  return isListenError(error) || dataPath === undefined
    ? describeListenError('its option "listen"', listen, error)
    : `its option "dataPath": cannot keep rows in ${dataPath}: ${describeSystemError(error)}`;
}
