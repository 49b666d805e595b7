import test from 'ava';
import { withDoor } from '../../core/wire/limits/door.js';

const seconds = 1793491200n;
const at = (second: number): bigint => (seconds + BigInt(second)) * 1_000_000_000n;

test('fields over several tenants are those of the newest lines of all of them together', async (t) => {
  await withDoor(async (door) => {
    await door.push({ app: 'a' }, [
      [at(1), 'old=1 n=1.5'],
      [at(2), 'n=1.5'],
      [at(5), 'n=7'],
      [at(6), 'mine=1'],
    ]);
    await door.push(
      { app: 'a' },
      [
        [at(3), 'n=true'],
        [at(4), 'other=1 n=3s'],
      ],
      2,
    );
    const times = { query: '{app="a"}', start: `${seconds}`, end: `${seconds + 60n}` };
    const typesOf = async (lines: number, orgId: string): Promise<Readonly<Record<string, string>>> => {
      const { text } = await door.get(
        '/loki/api/v1/detected_fields',
        { ...times, line_limit: String(lines) },
        orgId,
      );
      const { fields = [] } = JSON.parse(text) as {
        readonly fields?: readonly { readonly label: string; readonly type: string }[];
      };
      return Object.fromEntries(fields.map(({ label, type }) => [label, type]));
    };
    const detected_level = 'string';
    // The last line of the last tenant that has a field determines its type, regardless of the order in the header.
    for (const orgId of ['1|2', '2|1']) {
      t.deepEqual(await typesOf(1, orgId), { mine: 'int', detected_level });
      t.deepEqual(await typesOf(2, orgId), { mine: 'int', n: 'int', detected_level });
      t.deepEqual(await typesOf(3, orgId), { mine: 'int', other: 'int', n: 'duration', detected_level });
      t.deepEqual(await typesOf(4, orgId), { mine: 'int', other: 'int', n: 'boolean', detected_level });
      t.deepEqual(await typesOf(6, orgId), {
        mine: 'int',
        old: 'int',
        other: 'int',
        n: 'boolean',
        detected_level,
      });
    }
    t.deepEqual(await typesOf(3, '1'), { mine: 'int', n: 'float', detected_level });
    const valuesOf = async (lines: number): Promise<readonly string[]> => {
      const parameters = { ...times, line_limit: String(lines) };
      const { text } = await door.get('/loki/api/v1/detected_field/n/values', parameters, '1|2');
      return [...(JSON.parse(text) as { readonly values: readonly string[] }).values].sort();
    };
    t.deepEqual(await valuesOf(3), ['3s', '7']);
    t.deepEqual(await valuesOf(5), ['1.5', '3s', '7', 'true']);
  });
});
