import { parseListenAddress, type ListenAddress } from '../../../base/listen-address.js';
import { listeners } from '../listeners.js';
import type { Complaint, TextRule } from '../rule.js';

/** R048: every listener has an address of its own. */
export const sharedPort: TextRule = {
  id: 'R048',
  title: 'listeners do not share an address',
  tier: 'meaning',
  severity: 'error',
  docs: 'Two listeners of the file would open the same port on the same interface, and the second would fail. Port 0 lets the system choose and never collides.',
  check(draft) {
    const complaints: Complaint[] = [];
    const opened: { readonly key: string; readonly text: string; readonly address: ListenAddress }[] = [];
    for (const { option, text } of listeners(draft)) {
      const address = parseListenAddress(text);
      if (address === undefined) continue;
      const clash = opened.find((other) => overlap(other.address, address));
      if (clash !== undefined) {
        const message = `${option.name} "${text}" collides with ${clash.key} "${clash.text}"`;
        complaints.push({ at: option.at, message, fix: 'choose another port' });
      }
      opened.push({ key: option.name, text, address });
    }
    return complaints;
  },
};

/** No host means every interface. */
function overlap(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port === 0 || a.port !== b.port) return false;
  const isEverywhere = (host: string | undefined): boolean =>
    host === undefined || host === '0.0.0.0' || host === '::';
  return isEverywhere(a.host) || isEverywhere(b.host) || a.host === b.host;
}
