import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fetchRun } from '../api.js';
import { formatBytes, formatCount, formatMs, sentence } from '../model/format.js';
import {
  hereSentence,
  placeOf,
  placeTexts,
  planSentence,
  runFigures,
  type RunFigures,
} from '../model/plan-words.js';
import { layOutTree } from '../model/tree-text.js';
import type { ExplainedRead, PageExplanation, RunReport } from '../model/wire.js';
import type { Answered } from '../store/answers.js';
import { CopyButton } from './copy-button.js';
import { Icon } from './icons.js';

/** The execution of the query in plain words: the work of each side and its reason, its cost, and ways to make it cheaper. */
export function Plan({ answered }: { readonly answered: Answered }): JSX.Element {
  const { explanation, runs } = answered;
  const query = useRun(runs.query);
  const histogram = useRun(runs.histogram);
  const { reads, hints } = explanation;
  return (
    <div class="plan panel">
      <section>
        <h2>In short</h2>
        <p class="plan-lead">{planSentence(explanation)}</p>
        <Cost query={query} histogram={runs.histogram === undefined ? undefined : histogram} />
      </section>
      <Hints hints={hints} />
      {reads.map((read, index) => (
        <Read
          key={index}
          read={read}
          number={reads.length > 1 ? index + 1 : undefined}
          query={query}
          leaf={index}
        />
      ))}
      <Experts explanation={explanation} />
    </div>
  );
}

type Told = RunReport | 'asking' | 'unknown';

function useRun(name: string | undefined): Told {
  const [told, tell] = useState<Told>('asking');
  useEffect(() => {
    if (name === undefined) return undefined;
    let isCurrent = true;
    tell('asking');
    fetchRun(name).then(
      (report) => isCurrent && tell(report ?? 'unknown'),
      () => isCurrent && tell('unknown'),
    );
    return () => {
      isCurrent = false;
    };
  }, [name]);
  return told;
}

/** The measured cost of the query and its histogram. */
function Cost({
  query,
  histogram,
}: {
  readonly query: Told;
  readonly histogram: Told | undefined;
}): JSX.Element {
  return (
    <div class="cost-scroll" tabIndex={0} role="region" aria-label="What it cost">
      <table class="cost">
        <thead>
          <tr>
            <th scope="col">What it cost</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Bytes
            </th>
            <th scope="col" class="number">
              Time in all
            </th>
          </tr>
        </thead>
        <tbody>
          <CostRow name="The query" told={query} />
          {histogram !== undefined && <CostRow name="Its histogram" told={histogram} />}
        </tbody>
      </table>
      <p class="quiet">Calls to VictoriaLogs, and what it sent. No calls: a cache had the answer.</p>
    </div>
  );
}

function CostRow({ name, told }: { readonly name: string; readonly told: Told }): JSX.Element {
  const figures: RunFigures | undefined = typeof told === 'string' ? undefined : runFigures(told);
  const text = (value: (known: RunFigures) => string): string =>
    figures === undefined ? (told === 'asking' ? '…' : '–') : value(figures);
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="number">{text(({ calls }) => formatCount(calls))}</td>
      <td class="number">{text(({ rows }) => formatCount(rows))}</td>
      <td class="number">{text(({ bytes }) => formatBytes(bytes))}</td>
      <td class="number">{text(({ durationMs }) => `${formatMs(durationMs)} ms`)}</td>
    </tr>
  );
}

function Hints({ hints }: Pick<PageExplanation, 'hints'>): JSX.Element {
  return (
    <section>
      <h2>How to write it cheaper</h2>
      {hints.length === 0 ? (
        <p class="quiet">Nothing about this plan asks for it.</p>
      ) : (
        <ul class="hints">
          {hints.map(({ text, example }) => (
            <li key={text}>
              <Icon name="hint" />
              <p>
                {text} {example !== undefined && <code>{example}</code>}
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Read({
  read,
  number,
  query,
  leaf,
}: {
  readonly read: ExplainedRead;
  readonly number: number | undefined;
  readonly query: Told;
  readonly leaf: number;
}): JSX.Element {
  return (
    <>
      <section>
        <h2>Who does what{number !== undefined && `, part ${number}`}</h2>
        <ol class="plan-parts">
          {read.parts.map(({ part, verdict, reason }, index) => (
            <li key={index}>
              <span class={`place place-${placeOf(verdict)}`}>{placeTexts[placeOf(verdict)].name}</span>
              <div>
                <code>{part}</code>
                <p>
                  {placeTexts[placeOf(verdict)].text} <span class="quiet">Why: {sentence(reason)}</span>
                </p>
              </div>
            </li>
          ))}
        </ol>
        <p>
          {hereSentence(read)} {read.evaluatedHere.length > 0 && <code>{read.evaluatedHere.join(' ')}</code>}
        </p>
      </section>
      <section>
        <div class="listing-head">
          <h2>What VictoriaLogs is asked</h2>
          <CopyButton text={read.logsql} label="Copy the LogsQL" short="Copy" />
        </div>
        <pre class="listing" tabIndex={0} aria-label="What VictoriaLogs is asked">
          {read.logsql}
        </pre>
      </section>
      <Strategies read={read} query={query} leaf={leaf} />
    </>
  );
}

/** The strategies by which a range aggregation was read, or may be read. */
function Strategies({
  read,
  query,
  leaf,
}: {
  readonly read: ExplainedRead;
  readonly query: Told;
  readonly leaf: number;
}): JSX.Element | null {
  const { strategies = [] } = read;
  if (strategies.length === 0) return null;
  const tried = typeof query === 'string' ? [] : query.strategies.filter((one) => one.leaf === leaf);
  return (
    <section>
      <h2>How the numbers are read</h2>
      <ul class="strategies">
        {tried.length > 0
          ? tried.map(({ strategy, outcome, text, durationMs }) => (
              <li key={strategy}>
                <b>{strategy}:</b> {sentence(text)}{' '}
                <span class="quiet">
                  {outcome === 'ran' ? 'Took' : 'Given up after'} {formatMs(durationMs)} ms.
                </span>
              </li>
            ))
          : strategies.map(({ strategy, declined, text }) => (
              <li key={strategy}>
                <b>{strategy}:</b> {declined === undefined ? 'may be tried: ' : 'is not tried: '}
                {sentence(text)}
              </li>
            ))}
      </ul>
    </section>
  );
}

/** Details for readers who know the internals of the proxy. */
function Experts({ explanation }: { readonly explanation: PageExplanation }): JSX.Element {
  const { tree, formatted, histogram, names, namesText, reads } = explanation;
  return (
    <details class="experts">
      <summary>For experts: rules, tree, histogram</summary>
      <div class="plan-body">
        <Listing title="LogQL, laid out" text={formatted} />
        {histogram !== undefined && <Listing title="The query of the histogram" text={histogram} />}
        <Listing title="Syntax tree" text={layOutTree(tree)} />
        <div>
          <h3 class="minor">Rules, as docs/pushdown.md has them</h3>
          <ul class="rules">
            {reads.flatMap(({ parts }) =>
              parts.map(({ part, rule, verdict }, index) => (
                <li key={`${index} ${part}`}>
                  <code>{part}</code> {rule}, {verdict}
                </li>
              )),
            )}
          </ul>
        </div>
        {names !== 'unneeded' && (
          <Block title="Stored spellings of the names">
            <p>{sentence(namesText)}</p>
          </Block>
        )}
      </div>
    </details>
  );
}

function Block({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <h3 class="minor">{title}</h3>
      {children}
    </div>
  );
}

function Listing({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div>
      <div class="listing-head">
        <h3 class="minor">{title}</h3>
        <CopyButton text={text} label={`Copy: ${title}`} />
      </div>
      <pre class="listing" tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </div>
  );
}
