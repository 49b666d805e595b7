import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { fetchOutline, fetchPatterns } from '../../discovery.js';
import { formatCount } from '../../model/format.js';
import { countedPatterns, sparkPath, type CountedPattern } from '../../model/patterns.js';
import { nsRange, stepOf, type TimeRange } from '../../model/time-range.js';
import type { Answered } from '../../store/answers.js';
import { session } from '../../store/session.js';
import { useAnswer } from '../../use-answer.js';
import { IconButton } from '../icon-button.js';
import { usePages } from '../use-pages.js';

const maxBuckets = 60;
/** Patterns are counted by ten seconds or more. */
const leastStep = 10;
const box = { width: 120, height: 24 } as const;

/** The patterns of the lines of the query's selector, with their counts. */
export function PatternsView({ answered: { asked, range } }: { readonly answered: Answered }): JSX.Element {
  const stepSeconds = Math.max(leastStep, stepOf(range, maxBuckets));
  const key = [asked.tenant, asked.query, range.startMs, range.endMs].join('\n');
  const found = useAnswer(key, async (signal) => {
    const { selector, lines } = await fetchOutline(asked.query, signal);
    if (selector === '') return { selector, isWhole: true, patterns: [] };
    const scope = { tenant: asked.tenant, range: nsRange(range) };
    const patterns = await fetchPatterns(selector, stepSeconds, scope, signal);
    return { selector, isWhole: lines === selector, patterns: countedPatterns(patterns) };
  });
  if (found.kind === 'asking') return <p class="asking">Looking for patterns …</p>;
  if (found.kind === 'failed') return <p class="notice">No patterns: {found.text}</p>;
  const { selector, isWhole, patterns } = found.data;
  if (patterns.length === 0)
    return (
      <p class="panel empty">
        {selector === '' ? 'This query reads no lines.' : 'No pattern repeats among these lines.'}
      </p>
    );
  return (
    <>
      {!isWhole && (
        <p class="quiet view-note">
          Patterns of all lines of <code>{selector}</code>: the stages behind the selector do not narrow them.
        </p>
      )}
      <Patterns key={key} patterns={patterns} range={range} stepSeconds={stepSeconds} />
    </>
  );
}

function Patterns({
  patterns,
  range,
  stepSeconds,
}: {
  readonly patterns: readonly CountedPattern[];
  readonly range: TimeRange;
  readonly stepSeconds: number;
}): JSX.Element {
  const { shown, more } = usePages(patterns, 'patterns');
  return (
    <div class="panel table patterns">
      <table>
        <caption class="visually-hidden">Patterns of lines</caption>
        <thead>
          <tr>
            <th scope="col">Filter</th>
            <th scope="col" class="number">
              Lines
            </th>
            <th scope="col" class="number">
              Share
            </th>
            <th scope="col" class="is-minor">
              Over time
            </th>
            <th scope="col" class="is-minor">
              Level
            </th>
            <th scope="col">Pattern</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <Pattern
              key={`${one.level ?? ''} ${one.pattern}`}
              pattern={one}
              range={range}
              stepSeconds={stepSeconds}
            />
          ))}
        </tbody>
      </table>
      {more}
    </div>
  );
}

function Pattern({
  pattern: { pattern, level, count, share, samples },
  range,
  stepSeconds,
}: {
  readonly pattern: CountedPattern;
  readonly range: TimeRange;
  readonly stepSeconds: number;
}): JSX.Element {
  const path = useMemo(() => sparkPath(samples, range, stepSeconds, box), [samples]);
  return (
    <tr class={`level-${level ?? 'unknown'}`}>
      <td class="pattern-actions">
        <PatternFilter pattern={pattern} change="pattern-keep" />
        <PatternFilter pattern={pattern} change="pattern-drop" />
      </td>
      <td class="number">{formatCount(count)}</td>
      <td class="number">{(share * 100).toFixed(1)}%</td>
      <td class="is-minor">
        <svg class="spark" width={box.width} height={box.height} aria-hidden="true">
          <path d={path} />
        </svg>
      </td>
      <td class="is-minor">{level ?? 'any'}</td>
      <td>
        <code class="pattern-text">{pattern}</code>
      </td>
    </tr>
  );
}

function PatternFilter({
  pattern,
  change,
}: {
  readonly pattern: string;
  readonly change: 'pattern-keep' | 'pattern-drop';
}): JSX.Element {
  const text = change === 'pattern-keep' ? 'Keep lines of this pattern' : 'Drop lines of this pattern';
  return (
    <IconButton
      icon={change === 'pattern-keep' ? 'plus' : 'minus'}
      name={`${text}: ${pattern}`}
      title={text}
      onClick={() => void session.change({ change, value: pattern })}
    />
  );
}
