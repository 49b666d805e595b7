import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { failureText, fetchAsked } from '../../api.js';
import { columnValue, hasPlan, isCut, sortedQueries, type AskedColumn } from '../../model/asked-order.js';
import { formatShare } from '../../model/figures.js';
import { formatBytes, formatCount, formatMs } from '../../model/format.js';
import type { AskedQueries, AskedQuery } from '../../model/wire.js';
import { openedPlans } from '../../store/plan-runs.js';
import { session } from '../../store/session.js';
import { Icon } from '../icons.js';
import { ShareBar } from './share-bar.js';

const refreshMs = 5_000;

/** The reason why the queries are unknown; undefined if they are not counted. */
interface Unknown {
  readonly why: string | undefined;
}

function isKnown(asked: AskedQueries | Unknown | undefined): asked is AskedQueries {
  return asked !== undefined && 'total_queries' in asked;
}

/** The queries of all clients, from `/debug/queries`; undefined while loading. */
function useAsked(): AskedQueries | Unknown | undefined {
  const [asked, setAsked] = useState<AskedQueries | Unknown>();
  useEffect(() => {
    const look = (): void => {
      if (document.hidden) return;
      fetchAsked(AbortSignal.timeout(refreshMs)).then(
        (answer) => {
          setAsked(answer ?? { why: undefined });
          // If they are not counted now, they will not be before a restart.
          if (answer === undefined) clearInterval(timer);
        },
        (error: unknown) => setAsked({ why: failureText(error) }),
      );
    };
    const timer = setInterval(look, refreshMs);
    look();
    return () => clearInterval(timer);
  }, []);
  return asked;
}

/** The slowest, most frequent, largest and failed queries of clients; each leads to the query view or to its plan. */
export function AskedQueriesSection(): JSX.Element {
  const asked = useAsked();
  const [search, setSearch] = useState('');
  return (
    <section aria-labelledby="asked-title">
      <div class="section-head">
        <h2 id="asked-title">Queries</h2>
        <p class="quiet">
          {isKnown(asked) &&
            `${formatCount(asked.total_queries)} since the start, ${formatCount(asked.unique_queries)} different. `}
          The top 20 of each column.
        </p>
        {isKnown(asked) && (
          <label class="search asked-search">
            <Icon name="search" />
            <span class="visually-hidden">Filter the queries</span>
            <input
              type="search"
              placeholder="Filter"
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          </label>
        )}
      </div>
      {isKnown(asked) ? (
        <AskedTable asked={asked} search={search} />
      ) : (
        <p class="quiet">
          {asked !== undefined && asked.why === undefined ? (
            <>
              Queries are not counted: start with <code>-server.enable-query-analytics=true</code>.
            </>
          ) : (
            asked?.why
          )}
        </p>
      )}
    </section>
  );
}

const columns: readonly (readonly [column: AskedColumn, title: string, isMinor: boolean])[] = [
  ['total', 'Share of time', false],
  ['count', 'Asked', true],
  ['mean', 'Mean', true],
  ['longest', 'Longest', false],
  ['errors', 'Failed', true],
  ['bytes', 'Read', true],
];

function AskedTable({
  asked,
  search,
}: {
  readonly asked: AskedQueries;
  readonly search: string;
}): JSX.Element {
  const [order, setOrder] = useState<AskedColumn>('longest');
  const queries = sortedQueries(asked, order, search);
  return (
    <div class="panel table asked">
      <table>
        <caption class="visually-hidden">Queries of clients</caption>
        <thead>
          <tr>
            <th scope="col">Query</th>
            {columns.map(([column, title, isMinor]) => (
              <th
                key={column}
                scope="col"
                class={isMinor && order !== column ? 'number is-minor' : 'number'}
                aria-sort={order === column ? 'descending' : undefined}
              >
                <button
                  type="button"
                  class="sort"
                  title={`Sort by ${title.toLowerCase()}`}
                  onClick={() => setOrder(column)}
                >
                  {title}
                  {order === column && <span aria-hidden="true"> ↓</span>}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {queries.map((one) => (
            <Row key={one.fingerprint} asked={one} order={order} totalMs={asked.total_ms} />
          ))}
        </tbody>
      </table>
      {queries.length === 0 && (
        <p class="empty">{search === '' ? 'None so far.' : 'No query has this text.'}</p>
      )}
    </div>
  );
}

function Row({
  asked,
  order,
  totalMs,
}: {
  readonly asked: AskedQuery;
  readonly order: AskedColumn;
  /** Time of all queries. */
  readonly totalMs: number;
}): JSX.Element {
  const { query, endpoint, count, total_ms: ownMs, max_ms: maxMs, errors, strategies } = asked;
  const way = strategies.find(({ outcome }) => outcome === 'ran');
  const others = strategies.filter(({ outcome }) => outcome !== 'ran');
  const minor = (column: AskedColumn): string => (order === column ? 'number' : 'number is-minor');
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          class="series-name"
          title="Put it into the query box"
          onClick={() => {
            openedPlans.close();
            session.edit({ query });
            session.show('query');
          }}
        >
          <code>{query}</code>
        </button>
        <p class="asked-way">
          {hasPlan(asked) && (
            <button
              type="button"
              class="button is-quiet"
              aria-label={`Why slow: ${query.slice(0, 120)}`}
              title="The plan of this query, with the figures of its slowest run"
              onClick={() => openedPlans.open(asked)}
            >
              Why slow?
            </button>
          )}
          <code>{endpoint}</code>
          {way !== undefined && (
            <>
              {' '}
              read as <b>{way.strategy}</b>
            </>
          )}
          <span class="asked-others">
            {others.map(({ strategy, text }) => `; not as ${strategy}: ${text}`)}
          </span>
          {isCut(query) && '; its text is cut'}
        </p>
      </th>
      <td class="number">
        {formatShare(ownMs, totalMs)}
        <ShareBar share={totalMs > 0 ? ownMs / totalMs : 0} />
      </td>
      <td class={minor('count')}>{formatCount(count)}</td>
      <td class={minor('mean')}>{formatMs(columnValue('mean', asked))} ms</td>
      <td class="number">{formatMs(maxMs)} ms</td>
      <td class={minor('errors')}>{formatCount(errors)}</td>
      <td
        class={minor('bytes')}
        title={`${formatCount(asked.backend_rows)} rows in ${formatCount(asked.backend_calls)} calls`}
      >
        {formatBytes(asked.backend_bytes)}
      </td>
    </tr>
  );
}
