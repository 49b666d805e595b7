import fc from 'fast-check';

const surrogates = { from: 0xd800, count: 0x800 };

/**
 * Any character that UTF-8 can encode, often ASCII. fast-check's own unit first builds a map of all of them, which takes a second per
 * process.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff - surrogates.count }))
  .map((index) => String.fromCodePoint(index < surrogates.from ? index : index + surrogates.count));
