/** A thing that a key does on the page. */
export type ShortcutAction =
  'query' | 'help' | 'earlier' | 'later' | 'zoomOut' | 'run' | 'live' | 'showQuery' | 'showPipeline';

/** The keys of the page: one, or `g` and another after it. */
export const shortcutKeys: ReadonlyMap<string, ShortcutAction> = new Map([
  ['/', 'query'],
  ['?', 'help'],
  ['[', 'earlier'],
  [']', 'later'],
  ['z', 'zoomOut'],
  ['r', 'run'],
  ['l', 'live'],
  ['g q', 'showQuery'],
  ['g p', 'showPipeline'],
]);

export const shortcutTexts: Readonly<Record<ShortcutAction, string>> = {
  query: 'Go to the query',
  help: 'Show these shortcuts',
  earlier: 'Half a range earlier',
  later: 'Half a range later',
  zoomOut: 'Twice the range',
  run: 'Run the query',
  live: 'Follow new lines, or end that',
  showQuery: 'Show the view Query',
  showPipeline: 'Show the view Pipeline',
};

/** Keys that work in one place only. */
export const placeTextsOfKeys = [
  ['Ctrl Enter', 'In the query: run it'],
  ['Ctrl Space', 'In the query: offer labels, values and functions'],
  ['↑ ↓', 'On a line: move over lines'],
  ['Enter', 'On a line: open or close it'],
  ['← →', 'On a chart: read single bars and points'],
  ['Esc', 'Close a panel or a list'],
] as const;

/** The action of a key after another one; `g` alone waits for its second key. */
export function actionOf(key: string, before: string): ShortcutAction | undefined {
  return (before === 'g' ? shortcutKeys.get(`g ${key}`) : undefined) ?? shortcutKeys.get(key);
}
