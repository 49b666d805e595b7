import {
  snippetCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import { situationAt, type Situation, type WrittenMatcher } from './situation.js';
import {
  aggregations,
  conversions,
  durations,
  grouping,
  rangeFunctions,
  stages,
  type Word,
} from './vocabulary.js';

/** Provides names and values to the editor; `selector` restricts them, and is empty for all. */
export interface Names {
  labels(selector: string): Promise<readonly string[]>;
  values(name: string, selector: string): Promise<readonly string[]>;
  /** Names in the rows of a log query: labels, structured metadata and parsed labels. */
  fields(logQuery: string): Promise<readonly string[]>;
}

/** Creates the completion source, which offers what fits at the cursor. */
export function completionOf(names: Names): (context: CompletionContext) => Promise<CompletionResult | null> {
  return async (context) => {
    const text = context.state.doc.toString();
    const situation = situationAt(syntaxTree(context.state), text, context.pos);
    const word = context.matchBefore(wordOf(situation)) ?? { from: context.pos, to: context.pos, text: '' };
    if (!context.explicit && !opensByItself(situation, word.text, text.slice(0, word.from))) return null;
    try {
      const options = await offers(situation, names, text.slice(0, word.from).endsWith('|') ? ' ' : '');
      if (context.aborted || options.length === 0) return null;
      return { from: word.from, options, validFor: wordOf(situation, true) };
    } catch {
      // If names cannot be loaded, none are offered; running the query will show the error.
      return null;
    }
  };
}

function wordOf(situation: Situation, isWhole = false): RegExp {
  const sign =
    situation.kind === 'label-value'
      ? '[^"`{}]*'
      : situation.kind === 'stage'
        ? '[|!=~>]*\\s?\\w*'
        : '[\\w.]*';
  return new RegExp(isWhole ? `^${sign}$` : sign);
}

/** True if typing alone opens the list: at the start of a name or value, and in words. */
function opensByItself(situation: Situation, word: string, before: string): boolean {
  switch (situation.kind) {
    case 'none':
      return false;
    case 'start':
      return word !== '';
    case 'stage':
      return /^[|!]/.test(word);
    case 'expression':
      return word !== '' || before.endsWith('(');
    default:
      return true;
  }
}

/** @param gap text between a pipe and what follows it */
async function offers(situation: Situation, names: Names, gap: string): Promise<readonly Completion[]> {
  switch (situation.kind) {
    case 'start':
      return [
        snippetCompletion('{${}}', {
          label: '{',
          detail: 'select streams by labels',
          type: 'keyword',
          boost: 9,
        }),
        ...offered([...aggregations, ...rangeFunctions], 'function'),
      ];
    case 'expression':
      return [
        ...offered([...rangeFunctions, ...aggregations], 'function'),
        ...offered(grouping, 'keyword'),
        snippetCompletion('{${}}', { label: '{', detail: 'select streams by labels', type: 'keyword' }),
      ];
    case 'label-name':
      return (await names.labels(selectorOf(situation.others))).map((name) => ({
        label: name,
        type: 'label',
        apply: `${name}=`,
      }));
    case 'label-value': {
      const { name, isQuoted, others } = situation;
      const values = await names.values(name, selectorOf(others));
      return values.map((value) => {
        const quoted = JSON.stringify(value);
        return { label: value, type: 'value', apply: isQuoted ? quoted.slice(1, -1) : quoted };
      });
    }
    case 'stage':
      return offered(stages, 'keyword');
    case 'range':
      return offered(durations, 'value');
    case 'row-label': {
      const fields = (await names.fields(situation.logQuery)).map((label) => ({
        label,
        type: 'label',
        apply: gap + label,
      }));
      if (situation.in === 'filter')
        return [
          ...offered(
            stages
              .filter(({ word }) => word.startsWith('| '))
              .map(({ word, insert = word, info }) => ({
                word: word.slice(2),
                info,
                insert: gap + insert.slice(2),
              })),
            'keyword',
          ),
          ...fields,
        ];
      return situation.in === 'unwrap' ? [...fields, ...offered(conversions, 'function')] : fields;
    }
    case 'none':
      return [];
  }
}

function selectorOf(matchers: readonly WrittenMatcher[]): string {
  return matchers.length === 0
    ? ''
    : `{${matchers.map(({ name, op, value }) => `${name}${op}${value}`).join(', ')}}`;
}

function offered(words: readonly Word[], type: string): readonly Completion[] {
  return words.map(({ word, info, insert }) =>
    insert === undefined || insert === word
      ? { label: word, detail: info, type }
      : snippetCompletion(insert, { label: word, detail: info, type }),
  );
}
