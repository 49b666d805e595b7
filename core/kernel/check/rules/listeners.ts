import { isLoopback, parseListenAddress, type ListenAddress } from '../../../base/listen-address.js';
import type { PipelineDraft } from '../../pipeline/draft.js';
import {
  allOptions,
  enabledPlugins,
  findOption,
  howToSet,
  isFilled,
  type FilledOption,
} from '../option-lookup.js';
import { textRules, type Complaint } from '../rule.js';

export const listenersRules = textRules('meaning', [
  {
    id: 'R041',
    title: 'a metrics listener requires instrumentation',
    docs: '`metricsListen` opens an address for `/metrics`, which exists only with `registerInstrumentation: true`.',
    check(draft) {
      const listen = findOption(draft, 'metrics-listen');
      const register = findOption(draft, 'server.register-instrumentation');
      if (!isFilled(listen) || register?.value === true) return [];
      const message = `${listen.name} "${listen.value}" requires -server.register-instrumentation=true: without it there is no /metrics to serve`;
      const fix = `set ${howToSet(register, 'server.register-instrumentation')} to true, or remove ${listen.key}`;
      return [{ at: listen.at, message, fix }];
    },
  },
  {
    id: 'R045',
    title: 'debug routes on a non-loopback address require a token',
    docs: 'The page at /ui, explained queries, query analytics and profiles show user queries and internals of the process. On an `adminListen` address that other machines can reach, they require `adminAuthToken`.',
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
  },
  {
    id: 'R048',
    title: 'listeners do not share an address',
    docs: 'Two listeners of the file would open the same port on the same interface, and the second would fail. Port 0 lets the system choose a free port and never collides.',
    check(draft) {
      const complaints: Complaint[] = [];
      const opened: { readonly option: FilledOption; readonly address: ListenAddress }[] = [];
      for (const option of listeners(draft)) {
        const address = parseListenAddress(option.value);
        if (address === undefined) continue;
        const clash = opened.find((other) => overlap(other.address, address))?.option;
        if (clash !== undefined) {
          const message = `${option.name} "${option.value}" collides with ${clash.name} "${clash.value}"`;
          complaints.push({ at: option.at, message, fix: 'choose another port' });
        }
        opened.push({ option, address });
      }
      return complaints;
    },
  },
]);

/** True if both addresses conflict; an address without a host means every interface. */
function overlap(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port === 0 || a.port !== b.port) return false;
  const isEverywhere = (host: string | undefined): boolean =>
    host === undefined || host === '0.0.0.0' || host === '::';
  return isEverywhere(a.host) || isEverywhere(b.host) || a.host === b.host;
}

/**
 * The addresses that a pipeline will listen on: every option with `format: listen-address` that will be opened. The admin listener is
 * omitted if it has no routes or they move to the main listener (docs/protocol/operation.md#listeners-and-admin-routes).
 */
export function listeners(draft: PipelineDraft): readonly FilledOption[] {
  const hasAdmin = !isFilled(findOption(draft, 'server.admin-auth-token')) && servesAdmin(draft);
  return allOptions(draft)
    .filter(isFilled)
    .filter(({ definition: { schema } }) => schema.format === 'listen-address')
    .filter(({ definition: { flag } }) => flag !== 'admin-listen' || hasAdmin);
}

/** True when a plugin of the pipeline defines routes on the admin listener. */
function servesAdmin(draft: PipelineDraft): boolean {
  return enabledPlugins(draft).some(({ plugin }) => plugin.kind !== 'service' && plugin.servesAdmin === true);
}
