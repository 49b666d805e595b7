import { once } from 'node:events';
import { access, constants, open, stat, unlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isMissing } from '../../base/errors/system-error.js';
import { parseListenAddress } from '../../base/listen-address.js';
import { readFailure } from '../pipeline/source.js';
import type { Surroundings } from './rule.js';
import { timeoutSignal } from '../../base/time/waits.js';

/** Timeout for the backend's answer. */
const reachTimeoutMs = 5_000;

/**
 * Checks of this machine for the environment tier. They leave nothing changed: test files are removed, listeners are closed immediately.
 */
export const thisMachine: Surroundings = { canRead, canWrite, canListen, canReach };

async function canRead(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isDirectory() ? 'it is a directory' : undefined;
  } catch (error) {
    return readFailure(error);
  }
}

/**
 * Returns why a file cannot be written. An existing file must open for writing; otherwise it must be possible to create it. Checking
 * permissions is not enough: see /proc.
 */
async function canWrite(path: string): Promise<string | undefined> {
  try {
    // Non-blocking, because opening a pipe would wait for its reader.
    await (await open(path, constants.O_WRONLY | constants.O_NONBLOCK)).close();
    return undefined;
  } catch (error) {
    if (!isMissing(error)) return readFailure(error);
  }
  try {
    await (await open(path, 'ax')).close();
    await unlink(path);
    return undefined;
  } catch {
    return folderFailure(dirname(path));
  }
}

async function folderFailure(folder: string): Promise<string> {
  try {
    await access(folder, constants.W_OK);
    return 'cannot create a file in its directory';
  } catch (error) {
    return isMissing(error) ? 'its directory does not exist' : `its directory: ${readFailure(error)}`;
  }
}

async function canListen(text: string): Promise<string | undefined> {
  const address = parseListenAddress(text);
  if (address === undefined) return 'it is not an address';
  const server = createServer().listen(address.port, address.host);
  try {
    await once(server, 'listening');
    await once(server.close(), 'close');
    return undefined;
  } catch (error) {
    return readFailure(error);
  }
}

async function canReach(url: string): Promise<string | undefined> {
  const timeout = timeoutSignal(reachTimeoutMs);
  try {
    const send = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
    // A new connection: a kept-alive one would not show the current state.
    const request = send(url, { agent: false, signal: timeout });
    const answered = once(request, 'response');
    request.on('error', () => undefined).end();
    // The event has one argument, the response.
    const [answer] = (await answered) as [IncomingMessage];
    const { statusCode = 0 } = answer;
    // The body is not needed and may be long.
    answer.destroy();
    return statusCode >= 200 && statusCode < 300 ? undefined : `it answered with status ${statusCode}`;
  } catch (error) {
    if (timeout.aborted) return `no answer within ${reachTimeoutMs / 1000} s`;
    return readFailure(error);
  }
}
