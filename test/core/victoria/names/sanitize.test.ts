import test from 'ava';
import fc from 'fast-check';
import { isLegalLabel, sanitizeOtel, sanitizePushed } from '../../../../core/victoria/names/sanitize.js';
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

test('names of a push in Loki’s format change only their illegal characters', (t) => {
  t.is(sanitizePushed('odd key'), 'odd_key');
  t.is(sanitizePushed('a__b'), 'a__b');
  t.is(sanitizePushed('UPPER.Case'), 'UPPER_Case');
  t.is(sanitizePushed('rocket🚀'), 'rocket_');
});

test('a sanitised OTLP name is a legal label unless it is empty', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (name) => {
      if (name === 'scope.attributes.') return true;
      return isLegalLabel(sanitizeOtel(name)) || /^[0-9]/.test(name);
    }),
  );
  t.pass();
});
