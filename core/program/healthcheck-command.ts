import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { parseListenAddress } from '../base/listen-address.js';
import type { ServerOptions } from '../base/options.gen.js';
import {
  builtInDefinitions,
  FlagIndex,
  parseCommandLine,
  readBuiltInSchemas,
  shippedPipeline,
  UsageError,
  type CommandFlag,
  type OptionSchema,
  type OptionSources,
} from '../kernel/options/index.js';
import { readSection } from '../kernel/pipeline/read-yaml.js';
import type { Io } from './io.js';
import { helpFlag, printsHelp, refuseProblems } from './own-flags.js';
import { timeoutSignal } from '../base/time/waits.js';

const ownFlags: readonly CommandFlag[] = [
  { name: 'url', kind: 'string', description: 'URL to check; the default is /ready of the main listener' },
  {
    name: 'alive',
    kind: 'boolean',
    description: 'check /alive instead, which does not depend on the backend',
  },
  {
    name: 'pipeline',
    kind: 'string',
    description: 'pipeline file of the proxy; the default is that of serve',
  },
];

/** Timeout for an answer. */
const boundMs = 10_000;
/** Maximum length of a body that is shown. */
const shownLength = 200;

/**
 * Checks whether the proxy in the same container is ready, so that an image needs no other program for it. It finds the listener from the
 * flags, the environment and the pipeline file of `serve`, and loads no plugin.
 */
export async function healthcheck(args: readonly string[], io: Io): Promise<number> {
  const schemas = readBuiltInSchemas();
  const line = parseCommandLine(args, new FlagIndex(builtInDefinitions(schemas)), [...ownFlags, helpFlag]);
  if (printsHelp(line, { usage: 'healthcheck [flags of serve]', flags: ownFlags }, io)) return 0;
  refuseProblems(line);
  const given = line.own.get('url');
  if (given !== undefined && !URL.canParse(given))
    throw new UsageError([`-url=${given} is not a URL such as http://127.0.0.1:3100/ready`]);
  const sources = { flags: line.flags, env: io.env };
  const url = given ?? (await ownUrl(line.own, listenerSchema(schemas.get('server')), sources));
  let said: string;
  try {
    const { status, body } = await get(url);
    if (status === 200) return 0;
    said = `returned ${status}: ${body.slice(0, shownLength).replaceAll(/\s+/g, ' ').trim()}`;
  } catch (error) {
    said = `cannot be reached: ${error instanceof Error ? error.message || String(Reflect.get(error, 'code')) : 'failed'}`;
  }
  io.err(`ref-proxy healthcheck: ${url} ${said}\n`);
  return 1;
}

/** The options that determine the main listener; everything else in the file is ignored. */
function listenerSchema({ properties = {} }: OptionSchema = {}): OptionSchema {
  const names = new Set(['listen', 'tlsCertFile', 'tlsKeyFile']);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => names.has(name))),
  };
}

/** The URL of the main listener from this machine. */
async function ownUrl(
  own: ReadonlyMap<string, string>,
  schema: OptionSchema,
  sources: OptionSources,
): Promise<string> {
  const file = own.get('pipeline') ?? shippedPipeline();
  const { options, findings } = await readSection(file, 'server', schema, sources);
  const [finding] = findings;
  if (finding !== undefined) throw new UsageError([finding.message]);
  // A test keeps options.gen.ts in step with the schema that resolved this value.
  const { listen, tlsCertFile, tlsKeyFile } = options as unknown as ServerOptions;
  const address = parseListenAddress(listen);
  if (address === undefined || address.port === 0)
    throw new UsageError([`-listen=${listen} has no port to check; use -url`]);
  const { host, port } = address;
  const isTls = tlsCertFile !== undefined && tlsKeyFile !== undefined;
  return `${isTls ? 'https' : 'http'}://${hostOf(host)}:${port}/${own.get('alive') === 'true' ? 'alive' : 'ready'}`;
}

/** The host to connect to for a listen address. */
function hostOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

async function get(url: string): Promise<{ readonly status: number; readonly body: string }> {
  const target = new URL(url);
  const signal = timeoutSignal(boundMs);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    // The certificate names the service instead of this machine, and nothing is sent that would require trusting it.
    const options = { signal, agent: false, rejectUnauthorized: false } as const;
    const request = target.protocol === 'https:' ? requestHttps : requestHttp;
    request(target, options, resolve).on('error', reject).end();
  });
  let body = '';
  for await (const part of answer.setEncoding('utf8') as AsyncIterable<string>)
    if (body.length < shownLength) body += part;
  return { status: answer.statusCode ?? 0, body };
}
