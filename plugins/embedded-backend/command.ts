import { startDevBackend, type DevBackend, type DevBackendOptions } from './dev-backend.js';
import { parseListenAddress } from '../../core/base/listen-address.js';
import { describeListenError, isListenError } from '../../core/http/listener.js';
import { UsageError, type CommandFlag } from '../../core/kernel/options/index.js';
import { describeSystemError } from '../../core/base/errors/system-error.js';
import type { Io } from '../../core/program/io.js';
import { readPlainArgs } from '../../core/program/own-flags.js';
import { runUntilSignal } from '../../core/program/until-signal.js';

const flags: readonly CommandFlag[] = [
  { name: 'listen', kind: 'string', description: 'listen address, default 127.0.0.1:9428' },
  {
    name: 'max-bytes',
    kind: 'string',
    description: 'maximum memory for stored rows in bytes, default 1073741824',
  },
  {
    name: 'data-path',
    kind: 'string',
    description: 'directory that keeps rows across restarts, default none',
  },
  { name: 'faults', kind: 'boolean', description: 'serve /-/faults, to inject latency and errors' },
];

/** Runs the embedded development backend on its own. */
export async function backend(args: readonly string[], io: Io): Promise<number> {
  const line = readPlainArgs(args, { usage: 'backend [flags]', flags }, io);
  if (line === undefined) return 0;
  const { own } = line;
  const listen = own.get('listen') ?? '127.0.0.1:9428';
  const maxBytes = readBytes(own.get('max-bytes'));
  const dataDir = own.get('data-path');
  return runUntilSignal(async () => {
    const running = await start(listen, {
      faults: own.get('faults') === 'true',
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(dataDir === undefined ? {} : { dataDir }),
    });
    io.out(`embedded backend on ${running.url} (for development; implements the VictoriaLogs API)\n`);
    return running;
  });
}

async function start(listen: string, options: DevBackendOptions): Promise<DevBackend> {
  const address = parseListenAddress(listen);
  if (address === undefined)
    throw new UsageError([`-listen: ${listen} is not an address such as 127.0.0.1:9428`]);
  try {
    return await startDevBackend({ ...options, host: address.host ?? '0.0.0.0', port: address.port });
  } catch (error) {
    const { dataDir } = options;
    const reason =
      isListenError(error) || dataDir === undefined
        ? describeListenError('-listen', listen, error)
        : `-data-path: cannot keep rows in ${dataDir}: ${describeSystemError(error)}`;
    throw new Error(reason, { cause: error });
  }
}

function readBytes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const bytes = Number(text);
  if (!Number.isSafeInteger(bytes) || bytes <= 0)
    throw new UsageError([`-max-bytes: ${text} is not a whole number above 0`]);
  return bytes;
}
