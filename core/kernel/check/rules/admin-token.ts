import { isLoopback, parseListenAddress } from '../../../base/listen-address.js';
import { findOption, howToSet, isFilled } from '../option-lookup.js';
import { servesAdmin } from '../listeners.js';
import type { TextRule } from '../rule.js';

/** R045: admin and debug routes that other machines can reach ask for a token. */
export const adminToken: TextRule = {
  id: 'R045',
  title: 'debug routes off this machine need a token',
  tier: 'meaning',
  severity: 'error',
  docs: 'The page at /ui, explained queries, query analytics and profiles show what users ask and how the process works. On an `adminListen` address that other machines reach they need `adminAuthToken`.',
  check(draft) {
    const listen = findOption(draft, 'admin-listen');
    const token = findOption(draft, 'server.admin-auth-token');
    if (!isFilled(listen) || isFilled(token)) return [];
    const address = parseListenAddress(listen.value);
    if (address === undefined || isLoopback(address) || !servesAdmin(draft)) return [];
    const message = `server.admin-auth-token is required when admin/debug endpoints are enabled on non-loopback address ${listen.value}`;
    const fix = `set ${howToSet(token, 'server.admin-auth-token')}, or listen on 127.0.0.1`;
    return [{ at: listen.at, message, fix }];
  },
};
