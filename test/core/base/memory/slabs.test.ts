import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { type KeptBytes, Slabs } from '../../../../core/cache/tiers.js';

const digest = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('hex');

test.serial(
  'pieces are read as they were kept, in any order of coming and going, from blocks of about twice their size',
  (t) => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            size: fc.oneof(
              fc.integer({ min: 0, max: 300 }),
              fc.integer({ min: 1_000, max: 100_000 }),
              fc.integer({ min: 250_000, max: 600_000 }),
            ),
            drops: fc.array(fc.nat(), { maxLength: 3 }),
          }),
          { minLength: 50, maxLength: 200, size: 'max' },
        ),
        (steps) => {
          const slabs = new Slabs();
          const kept: { readonly piece: KeptBytes; readonly wanted: string }[] = [];
          let seed = 1;
          for (const { size, drops } of steps) {
            const bytes = Buffer.alloc(size, (seed += 1) % 251);
            kept.push({ piece: slabs.keep(bytes), wanted: digest(bytes) });
            bytes.fill(0);
            for (const drop of drops) {
              if (kept.length === 0) break;
              const [gone] = kept.splice(drop % kept.length, 1);
              gone?.piece.drop();
              gone?.piece.drop();
            }
            const live = kept.reduce((sum, { piece }) => sum + piece.byteLength, 0);
            t.true(slabs.bytes <= 2 * live + 2 * 1024 * 1024, `${slabs.bytes} for ${live}`);
          }
          for (const { piece, wanted } of kept) t.is(digest(piece.read()), wanted);
          for (const { piece } of kept) piece.drop();
          t.true(slabs.bytes <= 1024 * 1024);
        },
      ),
      { numRuns: 20, endOnFailure: true },
    );
  },
);

test.serial('what was read stays as it is, and what is forgotten takes nothing', (t) => {
  const slabs = new Slabs();
  const piece = slabs.keep(Buffer.from('kept'));
  const copy = piece.read();
  slabs.clear();
  t.is(slabs.bytes, 0);
  const other = slabs.keep(Buffer.from('else'));
  piece.drop();
  t.is(copy.toString(), 'kept');
  t.is(other.read().toString(), 'else');
  copy.fill(0);
  t.is(other.read().toString(), 'else');
});
