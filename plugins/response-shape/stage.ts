import type { ApiRequest, TimeRange } from '../../core/api/request.js';
import { printQuery } from '../../core/logql/index.js';
import { RowReader } from '../../core/names/row-reader.js';
import type { Answer, Exchange, Host, Stage } from '../../core/plugin/index.js';
import { answerConstant } from './constants.js';
import { answerIndexStats } from './index-stats.js';
import { listLabelNames, listLabelValues, listSeries } from './listings.js';
import { answerLogs } from './logs.js';

type Needs = 'tenant' | 'plan' | 'upstream';

/** Executes a plan over the backend and returns a typed answer. */
export class ResponseShapeStage implements Stage<Needs, never> {
  readonly #host: Pick<Host, 'naming' | 'limits' | 'clock'>;
  readonly #reader: RowReader;

  constructor(host: Pick<Host, 'naming' | 'limits' | 'clock'>) {
    this.#host = host;
    this.#reader = new RowReader(host.naming);
  }

  async handle(exchange: Exchange<Needs>): Promise<Answer> {
    const { plan, upstream, tenant } = exchange.slots;
    const { request } = exchange;
    const { naming, limits, clock } = this.#host;
    const backend = { upstream, reader: this.#reader, naming };
    switch (plan.kind) {
      case 'logs': {
        if (request.op !== 'query_range') throw mismatch(request);
        const showsGroups = naming.emitStructuredMetadata || !exchange.caller.categorizeLabels;
        return answerLogs(
          plan,
          { ...request, range: rangeOf(request) },
          { ...backend, clock, showsGroups, signal: exchange.signal },
        );
      }
      case 'constant':
        if (request.op !== 'query_range' && request.op !== 'query') throw mismatch(request);
        return answerConstant(plan, request, clock);
      case 'label-names':
        if (request.op !== 'labels') throw mismatch(request);
        return listLabelNames(plan, rangeOf(request), request.browse, backend);
      case 'label-values': {
        if (request.op !== 'label_values') throw mismatch(request);
        const maxBytes = limits.of([tenant.id]).labelValuesMaxResponseBytes;
        return listLabelValues(plan, rangeOf(request), request.browse, { ...backend, maxBytes });
      }
      case 'series':
        if (request.op !== 'series') throw mismatch(request);
        return listSeries(plan, rangeOf(request), backend);
      case 'index-stats':
        if (request.op !== 'index_stats') throw mismatch(request);
        return answerIndexStats(plan, rangeOf(request), backend);
      case 'format':
        return { kind: 'formatted', query: printQuery(plan.expr) };
    }
  }
}

/** The backend reads [start, end); the reference takes equal bounds as that one instant. */
function rangeOf({ range }: { readonly range: TimeRange }): TimeRange {
  return range.startNs === range.endNs ? { startNs: range.startNs, endNs: range.endNs + 1n } : range;
}

function mismatch(request: ApiRequest): Error {
  return new Error(`the plan does not belong to a request for ${request.op}`);
}
