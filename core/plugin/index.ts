/**
 * Everything a plugin of this project or of a site imports (`ref-proxy/plugin`): the contract, and what plugins make answers with.
 */
export * from '../kernel/plugin/contract.js';
export * from '../kernel/plugin/slots.js';
export type { Exchange, ExchangeChange } from '../kernel/plugin/exchange.js';
export type { Host } from '../kernel/plugin/host.js';
export type { Logger } from '../base/logger.js';
export type { MetricSpec, MetricSpecs, Meters } from '../base/meters.js';
export type { RequestObserver, RequestRecord } from '../kernel/telemetry/request-record.js';
export type { Answer } from '../wire/answer/types.js';
export type { ApiRequest } from '../wire/api/request.js';
export type { Caller, Tenant } from '../base/caller.js';
export type { Plan } from '../engine/plan/types.js';
export type { Upstream } from '../victoria/upstream/types.js';
export { askTenant } from '../kernel/plugin/asking-tenant.js';
export { finishedAnswer, jsonAnswer, textAnswer } from '../wire/answer/finished.js';
export { withHeaders } from '../wire/answer/with-headers.js';
export { apiError } from '../base/errors/table.js';
export { ApiError } from '../base/errors/api-error.js';
export { mapSelectors, type ChangeMatchers } from '../wire/api/map-selectors.js';
export { makeMatcher } from '../logql/matcher.js';
export { compileRegExp } from '../logql/regexp/index.js';
