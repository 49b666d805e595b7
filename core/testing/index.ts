/** The test kit for plugin authors (`ref-proxy/testing`): runs a plugin against a test exchange, or a whole proxy on a free port. */
export { makeLogAnswer, makeTenant } from './answers.js';
export { makeCall } from './call.js';
export { CapturedLog, type LogRecord } from '../tools/pipeline-test/captured-log.js';
export { makeCaller, makeExchange, makeLogRequest, type ExchangeSettings } from './exchange.js';
export {
  FakeClock,
  makeHost,
  type CapturedRecord,
  type FakeHost,
  type FakeHostSettings,
} from './fake-host.js';
export { FakeUpstream, matching, type ExpectedCall, type WrittenRow } from './fake-upstream.js';
export { limitsOptions, namesOptions, optionsOf, serverOptions, telemetryOptions } from './options.js';
export { makePipeline, type PipelineSettings, type Placed } from './pipeline.js';
export {
  showCall,
  startFakeVictoriaLogs,
  type BackendAnswer,
  type BackendCall,
  type FakeVictoriaLogs,
  type FakeVictoriaLogsSettings,
} from '../tools/pipeline-test/fake-victorialogs.js';
export {
  runPipeline,
  UnfitPipeline,
  withRunningPipeline,
  type PipelineAnswer,
  type PipelineRequest,
  type PipelineRun,
  type RunningPipeline,
} from '../tools/pipeline-test/run-pipeline.js';
export type { ScriptedAnswer } from '../tools/pipeline-test/script.js';
export type { StoredLine } from '../tools/pipeline-test/stored-lines.js';
export { runStage, type StageRun } from './run-stage.js';
export {
  withPipeline,
  withProxy,
  withProxyFile,
  type FileSettings,
  type ProxyUnderTest,
} from './with-proxy.js';
