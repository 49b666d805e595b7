import test from 'ava';
import { describeOptions } from '../../../../core/kernel/options/describe.js';
import { resolveOptions } from '../../../../core/kernel/options/index.js';
import type { OptionSchema } from '../../../../core/kernel/options/index.js';

const schema: OptionSchema = {
  type: 'object',
  properties: {
    url: { type: 'string', default: 'http://localhost:1', description: 'Where.', 'x-flag': 'the-url' },
    wait: { type: 'string', format: 'duration', default: '30s', description: 'How long.' },
    token: { type: 'string', description: 'Secret.', 'x-secret': true },
    users: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, password: { type: 'string', 'x-secret': true } },
      },
      default: [],
    },
    later: { type: 'boolean', default: false, 'x-unread': true },
  },
};

function describe(yaml: object): ReadonlyMap<string, ReturnType<typeof describeOptions>[number]> {
  const { options } = resolveOptions(schema, yaml, { flags: new Map(), env: {} });
  return new Map(describeOptions(schema, new Map(Object.entries(options))).map((one) => [one.key, one]));
}

test('an option tells its value and its default as they are written', (t) => {
  const options = describe({ wait: '90s' });
  t.like(options.get('wait'), { value: '90s', default: '30s', isDefault: false, isSet: true });
  t.like(options.get('url'), {
    value: 'http://localhost:1',
    isDefault: true,
    flag: 'the-url',
    description: 'Where.',
  });
});

test('a default that is written out is still the default', (t) => {
  t.true(describe({ wait: '0.5m' }).get('wait')?.isDefault);
});

test('a secret is told to be set and nothing else', (t) => {
  t.like(describe({ token: 'hidden-word' }).get('token'), { isSet: true, isSecret: true, isDefault: false });
  t.like(describe({}).get('token'), { isSet: false, isDefault: true });
  const all = describe({
    token: 'hidden-word',
    url: 'https://user:hidden-word@logs.example/x',
    users: [{ name: 'ann', password: 'hidden-word' }],
  });
  const text = JSON.stringify([...all]);
  t.false(text.includes('hidden-word'));
  t.true(text.includes('ann'));
  t.is(all.get('url')?.value, 'https://(hidden)@logs.example/x');
});

test('an option that no code reads is not shown', (t) => {
  t.false(describe({}).has('later'));
});
