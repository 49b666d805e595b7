/** Bytes that identify the answer and do not compress well. */
export function answerOf(number: number, length = 3_000): Buffer {
  const bytes = Buffer.alloc(length);
  let state = (number + 1) * 2_654_435_761;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}
