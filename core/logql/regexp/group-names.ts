/** A pattern without its group names, and the names with the numbers of their groups. */
export interface Unnamed {
  readonly pattern: string;
  readonly names: readonly (readonly [name: string, group: number])[];
}

const piece =
  /\\Q[^]*?(?:\\E|$)|\\[^]|\[\^?\]?(?:\[:[^\]]*:\]|\\[^]|[^\]\\])*\]|\(\?P?<(\w+)>|\(\?|\(|[^\\[(]+|[^]/gu;

/** Removes the names from a pattern: Go lets several groups share a name, this engine does not. */
export function removeGroupNames(pattern: string): Unnamed {
  const names: [string, number][] = [];
  let group = 0;
  const plain = pattern.replaceAll(piece, (text: string, name: string | undefined) => {
    if (name === undefined) {
      if (text === '(') group++;
      return text;
    }
    names.push([name, ++group]);
    return '(';
  });
  return { pattern: plain, names };
}
