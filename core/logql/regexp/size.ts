/** The size of a pattern, estimated from its text without building anything. */
export interface PatternSize {
  /** Instructions of the automaton, roughly: counted repetitions are expanded. */
  readonly states: number;
  /** The cost of parsing its classes, in the same unit: a Unicode class is as expensive as many characters. */
  readonly reading: number;
  /** The largest product of nested repetitions; RE2 refuses more than 1000. */
  readonly repeats: number;
}

const unicodeClass = 30;
const namedGroup = 7;
const mostRepeats = 1000;
/** The opening of a group with its name or flags. */
const groupHead = /\((?:\?(?:P?<\w*>|[a-zA-Z-]*:?))?/y;

interface Group {
  states: number;
  repeats: number;
  last: { states: number; repeats: number };
}

/** Estimates a pattern's size in one pass; an invalid pattern gets some size too. */
export function patternSize(pattern: string): PatternSize {
  let reading = 0;
  const open: Group[] = [newGroup()];
  for (let at = 0; at < pattern.length;) {
    const group = open.at(-1) ?? newGroup();
    const char = pattern.charAt(at);
    const repeat =
      char === '{' ? /^\{([0-9]{1,4})(?:,([0-9]{0,4}))?\}/.exec(pattern.slice(at, at + 12)) : null;
    if (repeat !== null) {
      repeatLast(group, Math.max(Number(repeat[1]), Number(repeat[2] ?? 0), 1));
      at += repeat[0].length;
    } else if (char === '(') {
      groupHead.lastIndex = at;
      const head = groupHead.exec(pattern)?.[0] ?? '(';
      open.push({ ...newGroup(), states: head.endsWith('>') ? namedGroup : 2 });
      at += head.length;
    } else if (char === ')' && open.length > 1) {
      open.pop();
      add(open.at(-1) ?? newGroup(), { states: group.states, repeats: group.repeats });
      at += 1;
    } else {
      const end = itemEnd(pattern, at);
      const isQuoted = pattern.startsWith('\\Q', at);
      add(group, { states: isQuoted ? end - at : 1, repeats: 1 });
      if (!isQuoted && end - at > 1) reading += end - at + unicodeClass * classesIn(pattern, at, end);
      at = end;
    }
  }
  const states = open.reduce((sum, group) => sum + group.states, 0);
  return { states, reading, repeats: Math.max(...open.map(({ repeats }) => repeats)) };
}

/** Whether RE2 itself refuses the repetitions before it builds anything. */
export function repeatsTooOften({ repeats }: PatternSize): boolean {
  return repeats > mostRepeats;
}

function newGroup(): Group {
  return { states: 0, repeats: 1, last: { states: 0, repeats: 1 } };
}

function add(group: Group, item: Group['last']): void {
  group.states += item.states;
  group.repeats = Math.max(group.repeats, item.repeats);
  group.last = item;
}

function repeatLast(group: Group, times: number): void {
  const { last } = group;
  group.states += last.states * (times - 1);
  group.last = { states: last.states * times, repeats: last.repeats * times };
  group.repeats = Math.max(group.repeats, group.last.repeats);
}

/** The offset after a character, an escape, a quoted text or a class. */
function itemEnd(pattern: string, at: number): number {
  if (pattern[at] === '\\') {
    if (pattern[at + 1] !== 'Q') return Math.min(at + 2, pattern.length);
    const end = pattern.indexOf('\\E', at + 2);
    return end < 0 ? pattern.length : end + 2;
  }
  if (pattern[at] !== '[') return at + 1;
  const close = pattern.indexOf(']', at + 2);
  return close < 0 ? pattern.length : close + 1;
}

/** The number of Unicode classes, each of which consists of hundreds of ranges. */
function classesIn(pattern: string, from: number, to: number): number {
  let classes = 0;
  for (let at = pattern.indexOf('\\', from); at >= 0 && at < to; at = pattern.indexOf('\\', at + 2)) {
    if ('pP'.includes(pattern.charAt(at + 1))) classes += 1;
  }
  return classes;
}
