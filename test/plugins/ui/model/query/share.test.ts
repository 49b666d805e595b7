import { execFileSync } from 'node:child_process';
import test from 'ava';
import fc from 'fast-check';
import {
  curlCommand,
  exploreUrl,
  logcliCommand,
} from '../../../../../plugins/ui/browser/model/query/share.js';
import { maxSaved, parseSaved, withSaved } from '../../../../../plugins/ui/browser/model/query/saved.js';

const range = { startNs: 1_770_000_000_000_000_000n, endNs: 1_770_003_600_000_000_000n };
const shared = { query: '{a="b"}', limit: 20, direction: 'forward', tenant: '' } as const;
const odd = `{a="it's"} |= \`$(touch x) \\ "q"\`\n# !! %s`;

/** The words that a shell reads from a command. */
function wordsOf(command: string): readonly string[] {
  const script = `show() { for word in "$@"; do printf '%s\\0' "$word"; done; }\nshow ${command}`;
  const env = { LOKI_ADDR: 'http://unknown' };
  return execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env }).split('\0').slice(0, -1);
}

test('a shell reads the query of a command as it was, whatever is in it', (t) => {
  const texts = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'));
  const check = (query: string, tenant: string): void => {
    const curl = wordsOf(curlCommand({ ...shared, query, tenant }, range, 'http://h:3100'));
    t.is(curl[0], 'curl');
    t.true(curl.includes(`query=${query}`));
    t.true(curl.includes(`X-Scope-OrgID: ${tenant}`));
    const logcli = wordsOf(logcliCommand({ ...shared, query, tenant }, range, undefined));
    t.is(logcli.at(-1), query);
    t.true(logcli.includes(`--org-id=${tenant}`));
    t.true(logcli.includes('--addr=http://unknown'));
  };
  check(odd, "o'hara");
  fc.assert(
    fc.property(texts, texts, (query, tenant) => check(query, tenant)),
    { numRuns: 30 },
  );
});

test('Explore opens the same query and range', (t) => {
  const url = new URL(
    exploreUrl({ ...shared, query: odd }, { from: 'now-1h', to: 'now' }, { url: 'https://g/x', uid: 'u' }),
  );
  t.is(url.pathname, '/x/explore');
  const { refProxy } = JSON.parse(url.searchParams.get('panes') ?? '') as {
    refProxy: { datasource: string; range: object; queries: readonly { expr: string; maxLines: number }[] };
  };
  t.is(refProxy.datasource, 'u');
  t.deepEqual(refProxy.range, { from: 'now-1h', to: 'now' });
  t.is(refProxy.queries[0]?.expr, odd);
  t.is(refProxy.queries[0]?.maxLines, 20);
});

test('saved queries have unique names and a bound, and odd files are refused', (t) => {
  const one = { name: ' errors ', query: ' {a="b"} ', tenant: '' };
  const saved = withSaved([], one);
  t.deepEqual(saved, [{ name: 'errors', query: '{a="b"}', tenant: '' }]);
  t.deepEqual(parseSaved(JSON.stringify([one, 3, { name: 'x' }])), saved);
  t.is(parseSaved('{}'), undefined);
  t.is(parseSaved('nothing'), undefined);
  t.is(typeof withSaved([], { ...one, query: ' ' }), 'string');
  const many = Array.from({ length: maxSaved }, (_, index) => ({ ...one, name: `n${index}` }));
  t.is(typeof withSaved(many, one), 'string');
  t.is(withSaved(many, { ...one, name: 'n3' }).length, maxSaved);
});
