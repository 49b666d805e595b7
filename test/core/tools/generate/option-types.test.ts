import test from 'ava';
import type { OptionSchema } from '../../../../core/kernel/options/index.js';
import { generateTypes } from '../../../../core/tools/generate/option-types.js';

test.serial(
  'types: durations are numbers, defaults make members sure to be there, nothing can be changed',
  async (t) => {
    const text = await generateTypes(
      new Map([
        [
          'demo',
          {
            title: 'DemoOptions',
            type: 'object',
            properties: {
              ttl: { type: 'string', format: 'duration', default: '1s', description: 'Time.' },
              names: { type: 'array', items: { type: 'string' }, description: 'Names.' },
              mode: { type: 'string', enum: ['a', 'b'], default: 'a', description: 'Mode.' },
            },
            additionalProperties: false,
          },
        ],
      ]),
    );
    t.regex(text, /export interface DemoOptions \{/);
    t.regex(text, /^ {2}readonly ttl: number; \/\/ milliseconds$/m);
    t.regex(text, /^ {2}readonly names\?: readonly string\[\];$/m);
    t.regex(text, /^ {2}readonly mode: 'a' \| 'b';$/m);
  },
);

test.serial(
  'types: options that one flag sets in several schemas are written once, and picked',
  async (t) => {
    const named = (title: string, options: OptionSchema['properties'] = {}): [string, OptionSchema] => [
      title,
      { title, type: 'object', properties: options, additionalProperties: false },
    ];
    const option = { type: 'integer', default: 1, description: 'Size.' };
    const text = await generateTypes(
      new Map([
        named('One', { size: { ...option, 'x-flag': 'size' }, count: { ...option, 'x-flag': 'count' } }),
        named('Two', { size: { ...option, 'x-shares': 'size' } }),
        named('Three', { size: { type: 'string', 'x-shares': 'size' }, count: option }),
      ]),
    );
    t.regex(text, /export interface SharedOptions \{\n {2}readonly size: number;\n\}/);
    t.regex(
      text,
      /interface One\n {2}extends Pick<SharedOptions, 'size'> \{\n {2}readonly count: number;\n\}/,
    );
    t.regex(text, /interface Two\n {2}extends Pick<SharedOptions, 'size'> \{\}/);
    t.regex(text, /interface Three \{\n {2}readonly size\?: string;\n {2}readonly count: number;\n\}/);
  },
);
