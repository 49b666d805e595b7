import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { optionValues } from '../kernel/options/describe.js';
import type { Pipeline } from '../kernel/pipeline/index.js';
import { demoWelcome } from './demo.js';
import type { Io } from '../program/io.js';
import { servePipeline } from '../program/serve.js';

const backendPort = 9429;
const adminPort = 3101;
const proxyPort = 3100;

/** Runs the demo: the proxy over an embedded backend with sample logs. If the usual ports are in use, it picks others. */
export async function demo(args: readonly string[], io: Io): Promise<number> {
  const wantsHelp = args.some((arg) => /^--?help(?:=|$)/.test(arg));
  const beside = wantsHelp ? { args, env: io.env } : await besideOthers(args, io.env);
  if (!wantsHelp)
    io.out('starting the demo: an embedded backend, an hour of sample logs, and the proxy ...\n');
  return servePipeline(
    // A record per request would drown the demo's own output.
    ['-log-level=warn', ...beside.args],
    { ...io, env: beside.env },
    { name: 'demo', pipeline: 'demo.yaml' },
    (proxy, pipeline) => {
      const { main, admin = main } = proxy.urls;
      const addresses = { proxyUrl: main, adminUrl: admin, backendUrl: backendUrlOf(pipeline) };
      io.out(demoWelcome(addresses, pipeline.file));
    },
  );
}

/** Picks other ports for the proxy, its page and the backend if theirs are in use; explicit choices are kept. */
async function besideOthers(
  args: readonly string[],
  env: Io['env'],
): Promise<{ readonly args: readonly string[]; readonly env: Io['env'] }> {
  const choosesListen =
    args.some((arg) => /^--?(?:listen|pipeline)(?:=|$)/.test(arg)) || (env['LISTEN_ADDR'] ?? '') !== '';
  const choosesAdmin = args.some((arg) => /^--?(?:admin-listen|server\.admin-auth-token)(?:=|$)/.test(arg));
  const moreArgs: string[] = [];
  if (!choosesListen && !(await isFree(proxyPort))) moreArgs.push(`-listen=:${await freePort()}`);
  if (!choosesAdmin && !(await isFree(adminPort)))
    moreArgs.push(`-admin-listen=127.0.0.1:${await freePort()}`);
  const choosesBackend = (env['DEMO_BACKEND_LISTEN'] ?? '') !== '';
  if (choosesBackend || (await isFree(backendPort))) return { args: [...moreArgs, ...args], env };
  const listen = `127.0.0.1:${await freePort()}`;
  const moreEnv = { DEMO_BACKEND_LISTEN: listen, DEMO_BACKEND_URL: `http://${listen}` };
  return { args: [...moreArgs, ...args], env: { ...env, ...moreEnv } };
}

async function isFree(port: number): Promise<boolean> {
  try {
    await portOf(port);
    return true;
  } catch {
    return false;
  }
}

/** A port that is free now; the demo uses it immediately. */
function freePort(): Promise<number> {
  return portOf(0);
}

async function portOf(port: number): Promise<number> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an AddressInfo.
  const { port: got } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return got;
}

function backendUrlOf(pipeline: Pipeline): string {
  const options = pipeline.services.find((loaded) => loaded.plugin.name === 'embedded-backend')?.options;
  const listen = optionValues(options).get('listen');
  return typeof listen === 'string' ? `http://${listen.startsWith(':') ? 'localhost' : ''}${listen}` : 'none';
}
