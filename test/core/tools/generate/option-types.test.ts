import test from 'ava';
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
    t.regex(text, /Time\. \(milliseconds\)/);
    t.regex(text, /^ {2}readonly ttl: number;$/m);
    t.regex(text, /^ {2}readonly names\?: readonly string\[\];$/m);
    t.regex(text, /^ {2}readonly mode: 'a' \| 'b';$/m);
  },
);
