import { findOption, howToSet, isFilled } from '../option-lookup.js';
import type { Complaint, TextRule } from '../rule.js';

/** R043: certificate and key are both set, and so is everything that other TLS options require. */
export const tlsPair: TextRule = {
  id: 'R043',
  title: 'a certificate has its key',
  tier: 'meaning',
  severity: 'error',
  docs: 'HTTPS needs `tlsCertFile` and `tlsKeyFile`; one of them alone, or an authority for client certificates without them, would leave the listener on plain HTTP.',
  check(draft) {
    const cert = findOption(draft, 'tls-cert-file');
    const key = findOption(draft, 'tls-key-file');
    const authority = findOption(draft, 'tls-client-ca-file');
    const complain = (
      at: Complaint['at'],
      given: string,
      missing: typeof cert,
      flag: string,
    ): readonly Complaint[] => [
      {
        at,
        message: `${given} is given without ${flag}: HTTPS needs both`,
        fix: `set ${howToSet(missing, flag)}`,
      },
    ];
    if (isFilled(cert) && !isFilled(key)) return complain(cert.at, cert.name, key, 'tls-key-file');
    if (isFilled(key) && !isFilled(cert)) return complain(key.at, key.name, cert, 'tls-cert-file');
    if (isFilled(authority) && !isFilled(cert)) {
      const message = `${authority.name} is given without tls-cert-file and tls-key-file: without HTTPS no client shows a certificate`;
      return [
        {
          at: authority.at,
          message,
          fix: `set ${howToSet(cert, 'tls-cert-file')} and ${howToSet(key, 'tls-key-file')}`,
        },
      ];
    }
    return [];
  },
};
