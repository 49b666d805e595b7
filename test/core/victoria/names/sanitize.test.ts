import test from 'ava';
import fc from 'fast-check';
import { isLegalLabel, sanitizeOtel, sanitizePushed } from '../../../../core/victoria/names/naming.js';
import { anyCharacter } from '../../../setup/text.js';

const otelNames: readonly (readonly [string, string])[] = [
  ['k8s.pod.name', 'k8s_pod_name'],
  ['net..peer', 'net_peer'],
  ['a__b', 'a_b'],
  ['größe', 'gr_e'],
  ['{OriginalFormat}', '_OriginalFormat_'],
  ['2fa.enabled', 'key_2fa_enabled'],
  ['_private', '_private'],
  ['scope.attributes.library.language', 'library_language'],
  ['__x__', '__x__'],
  ['cost-center', 'cost_center'],
];

test('names of an OTLP export are joined, prefixed and stripped as Loki does it', (t) => {
  for (const [stored, shown] of otelNames) t.is(sanitizeOtel(stored), shown);
});

test('names of a push in Loki’s format are joined and prefixed in the same way', (t) => {
  const pushed = {
    'odd key': 'odd_key',
    a__b: 'a_b',
    'UPPER.Case': 'UPPER_Case',
    'rocket🚀': 'rocket_',
    '1digit': 'key_1digit',
    '__a..b__': '__a_b__',
    ___y__: '___y__',
    __1__: '__1__',
    ___: '___',
    'scope.attributes.q': 'scope_attributes_q',
  };
  for (const [stored, shown] of Object.entries(pushed)) t.is(sanitizePushed(stored), shown);
});

test('a sanitised OTLP name is a legal label unless it is empty', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (name) => {
      if (name === 'scope.attributes.') return true;
      return isLegalLabel(sanitizeOtel(name));
    }),
  );
  t.pass();
});
