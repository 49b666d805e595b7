import { findOption, howToSet, isFilled } from '../option-lookup.js';
import type { TextRule } from '../rule.js';

/** R042: client certificates are required only where they can be verified. */
export const clientCertificates: TextRule = {
  id: 'R042',
  title: 'client certificates need an authority',
  tier: 'meaning',
  severity: 'error',
  docs: '`tlsRequireClientCert` refuses clients without a certificate signed by an authority of `tlsClientCaFile`; without that file it would refuse everybody or nobody.',
  check(draft) {
    const required = findOption(draft, 'tls-require-client-cert');
    const authority = findOption(draft, 'tls-client-ca-file');
    if (required?.value !== true || isFilled(authority)) return [];
    const message = 'tls-client-ca-file is required when tls-require-client-cert is enabled';
    return [{ at: required.at, message, fix: `set ${howToSet(authority, 'tls-client-ca-file')}` }];
  },
};
