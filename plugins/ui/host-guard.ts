import { isIP } from 'node:net';
import { apiError, type Caller } from '../../core/plugin/index.js';

/**
 * Admits requests whose Host header is an IP address, localhost or an allowed name; others are an ApiError. Any other name could belong to
 * an attacker's page whose DNS entry was changed to this machine (DNS rebinding), which could then read the logs.
 */
export function createHostGuard(allowedHosts: readonly string[]): (caller: Caller) => void {
  const allowed = new Set(['localhost', ...allowedHosts.map((name) => name.toLowerCase())]);
  return ({ headers }) => {
    const name = hostName(headers.get('host') ?? '');
    if (name !== '' && isIP(name) === 0 && !allowed.has(name) && !name.endsWith('.localhost')) {
      throw apiError('hostNotAllowed', { host: name });
    }
  };
}

/** The name or address in a Host header, without port and without brackets. */
function hostName(header: string): string {
  const text = header.toLowerCase();
  const bracketed = /^\[([^\]]*)\]/.exec(text)?.[1];
  return bracketed ?? text.replace(/:\d*$/, '').replace(/\.$/, '');
}
