import type { ComponentChildren, JSX } from 'preact';
import { figureTexts, type Figures } from '../../model/figures.js';
import { formatCounted, formatMs, sentence } from '../../model/format.js';
import type { Flow, Lane } from '../../model/plan-flow.js';
import { hereSentence, placeOf, placeTexts } from '../../model/plan-words.js';
import type { ExplainedPart } from '../../model/wire.js';
import { CopyButton } from '../copy-button.js';
import { Candidates } from './candidates.js';

/** The answer at the end of the picture. */
export interface FlowEnd {
  /** `100 lines`, `12 series`. */
  readonly text: string;
  readonly note?: string;
}

interface Properties {
  readonly flow: Flow;
  readonly end: FlowEnd;
  /** The state of the report, as a text where there are no figures: still asked for, or lost. */
  readonly missing: string;
}

/** The way of a query's rows: VictoriaLogs, the proxy and the answer, with figures at each arrow. Every log query in it is a lane. */
export function FlowPicture({ flow, end, missing }: Properties): JSX.Element {
  const { lanes, others, total } = flow;
  const isJoined = lanes.length > 1;
  return (
    <div class={isJoined ? 'flow-frame is-joined' : 'flow-frame'}>
      <ol class="flow-lanes" aria-label="From VictoriaLogs to the answer">
        {lanes.map((lane, index) => (
          <li key={index} class="flow-lane">
            {isJoined && (
              <p class="flow-lane-name">
                Part {index + 1} <code>{lane.read.logql}</code>
              </p>
            )}
            <ol class="flow">
              <Backend lane={lane} />
              <Arrow from="VictoriaLogs" lane={lane} missing={missing} />
              <Proxy lane={lane} />
              {!isJoined && <Answer end={end} total={total} />}
            </ol>
          </li>
        ))}
        {lanes.length === 0 && (
          <li class="flow-lane">
            <p>No logs are read: the proxy calculates the answer.</p>
          </li>
        )}
        {(isJoined || lanes.length === 0) && (
          <li class="flow-lane is-end">
            <ol class="flow">
              {isJoined && (
                <li class="flow-node">
                  <h3 class="flow-title">Proxy</h3>
                  <p>Joins the {lanes.length} parts, point by point.</p>
                </li>
              )}
              <Answer end={end} total={total} />
            </ol>
          </li>
        )}
      </ol>
      {others !== undefined && (
        <p class="quiet">
          Besides, {figureTexts(others).join(', ')} to learn stored names, or to check what was read.
        </p>
      )}
    </div>
  );
}

function Node({
  title,
  kind,
  children,
}: {
  readonly title: string;
  readonly kind: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <li class={`flow-node is-${kind}`}>
      <h3 class="flow-title">{title}</h3>
      {children}
    </li>
  );
}

function Backend({ lane }: { readonly lane: Lane }): JSX.Element {
  const { conditions, logsql } = lane.read;
  const isFolded = conditions.some(({ fields }) => fields.length > 0);
  return (
    <Node title="VictoriaLogs" kind="backend">
      <ul class="conditions">
        {conditions.map(({ text, fields }) => (
          <li key={text}>
            <code>{text === '*' ? 'every row' : text}</code>
            {fields.length > 0 && (
              <span class="quiet" title={fields.join(', ')}>
                {' '}
                (in {formatCounted(fields.length, 'stored field')})
              </span>
            )}
          </li>
        ))}
      </ul>
      <div class="flow-actions">
        <details class="fold">
          <summary>{isFolded ? 'Full LogsQL' : 'As one LogsQL query'}</summary>
          <pre class="listing" tabIndex={0} role="group" aria-label="LogsQL">
            {logsql}
          </pre>
        </details>
        <CopyButton text={logsql} label="Copy the LogsQL" short="Copy" />
      </div>
      <Why parts={lane.backend} />
    </Node>
  );
}

function Proxy({ lane }: { readonly lane: Lane }): JSX.Element {
  const { read, candidates, proxy } = lane;
  return (
    <Node title="Proxy" kind="proxy">
      {read.evaluatedHere.length > 0 ? (
        <>
          <p class="quiet">{hereSentence(read)}</p>
          <ul class="conditions">
            {read.evaluatedHere.map((stage, index) => (
              <li key={index}>
                <code>{stage}</code>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p class="quiet">{hereSentence(read)}</p>
      )}
      <Why parts={proxy} />
      {candidates.length > 0 && <Candidates candidates={candidates} />}
    </Node>
  );
}

function Why({ parts }: { readonly parts: readonly ExplainedPart[] }): JSX.Element | null {
  if (parts.length === 0) return null;
  return (
    <details class="fold">
      <summary>Why here: {formatCounted(parts.length, 'part')}</summary>
      <ul class="why">
        {parts.map(({ part, verdict, reason }, index) => (
          <li key={index}>
            <code>{part}</code>
            <p>
              {placeTexts[placeOf(verdict)]} <span class="quiet">{sentence(capital(reason))}</span>
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** An arrow with the measured figures, and the estimated ones beside them. */
function Arrow({
  from,
  lane: { measured, estimated },
  missing,
}: {
  readonly from: string;
  readonly lane: Lane;
  readonly missing: string;
}): JSX.Element {
  const guess = estimated === undefined ? [] : figureTexts(estimated);
  return (
    <li class="flow-arrow">
      <span class="visually-hidden">{from} sends to the proxy: </span>
      {measured === undefined ? (
        <p class="quiet">{missing}</p>
      ) : measured.calls === 0 ? (
        <p>
          <b>No calls</b> <span class="quiet">answered from a cache</span>
        </p>
      ) : (
        <FigureList figures={measured} />
      )}
      {guess.length > 0 && <p class="flow-guess">Estimated: {guess.join(', ')}</p>}
      <svg class="arrow" viewBox="0 0 24 10" aria-hidden="true">
        <path d="M0 5h22M17 1l5 4-5 4" />
      </svg>
    </li>
  );
}

function FigureList({ figures }: { readonly figures: Figures }): JSX.Element {
  const [first, ...others] = figureTexts(figures);
  return (
    <p>
      <b>{first}</b>
      {others.map((text) => (
        <span key={text}>, {text}</span>
      ))}
    </p>
  );
}

function Answer({ end, total }: { readonly end: FlowEnd; readonly total: Flow['total'] }): JSX.Element {
  return (
    <Node title="Answer" kind="answer">
      <p>
        <b>{end.text}</b>
        {total?.ms !== undefined && <span> in {formatMs(total.ms)} ms</span>}
      </p>
      {end.note !== undefined && <p class="quiet">{end.note}</p>}
    </Node>
  );
}
