/** How many states a pattern has, roughly: its length with counted repetitions written out. */
export function statesOf(pattern: string): number {
  // Sizes of the open groups, and of the last item in each.
  const groups = [{ total: 0, last: 0 }];
  for (let at = 0; at < pattern.length;) {
    const group = groups.at(-1) ?? { total: 0, last: 0 };
    const char = pattern.charAt(at);
    const repeat =
      char === '{' ? /^\{([0-9]{1,4})(?:,([0-9]{0,4}))?\}/.exec(pattern.slice(at, at + 12)) : null;
    if (repeat !== null) {
      const times = Math.max(Number(repeat[1]), Number(repeat[2] ?? 0), 1);
      group.total += group.last * (times - 1);
      group.last *= times;
      at += repeat[0].length;
    } else if (char === '(') {
      groups.push({ total: 1, last: 0 });
      at++;
    } else if (char === ')' && groups.length > 1) {
      groups.pop();
      const outer = groups.at(-1) ?? group;
      outer.total += group.total;
      outer.last = group.total;
      at++;
    } else {
      const length = itemLength(pattern, at);
      group.total += 1;
      group.last = 1;
      at += length;
    }
  }
  return groups.reduce((sum, { total }) => sum + total, 0);
}

/** Length of a character, an escape or a class. */
function itemLength(pattern: string, at: number): number {
  if (pattern[at] === '\\') return 2;
  if (pattern[at] !== '[') return 1;
  const close = pattern.indexOf(']', at + 2);
  return close < 0 ? pattern.length - at : close + 1 - at;
}
