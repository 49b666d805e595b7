import type { LoadedPlugin, Pipeline } from '../../kernel/pipeline/index.js';
import type { AdmitAgain, AnswerAgain, Stage, StagePlugin } from '../../kernel/plugin/contract.js';
import type { SlotName } from '../../kernel/plugin/slots.js';

type AnyStage = Stage<SlotName, SlotName>;

/** The pipeline with stages that report each client request passing them; repeated requests on the fast lane count too. */
export function withPassedStages(pipeline: Pipeline, passed: (stageId: string) => void): Pipeline {
  return { ...pipeline, stages: pipeline.stages.map((loaded) => telling(loaded, () => passed(loaded.id))) };
}

function telling(loaded: LoadedPlugin<StagePlugin>, passed: () => void): LoadedPlugin<StagePlugin> {
  const { plugin } = loaded;
  const reporting: StagePlugin = {
    ...plugin,
    create: (options, host) => tellingStage(plugin.create(options, host), passed),
  };
  return { ...loaded, plugin: reporting };
}

/** A stage that reports requests. Its methods are called on the original stage, which may have private fields. */
function tellingStage(stage: AnyStage, passed: () => void): AnyStage {
  const reporting: Pick<AnyStage, 'handle' | 'admitAgain' | 'answerAgain'> = {
    handle: (exchange, rest) => {
      if (exchange.caller.isBackground !== true) passed();
      return stage.handle(exchange, rest);
    },
    admitAgain: (exchange) => tellingAdmit(stage.admitAgain?.(exchange), passed),
    answerAgain: (exchange, answer) => tellingAnswer(stage.answerAgain?.(exchange, answer), passed),
  };
  return new Proxy(stage, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const method: unknown = Object.hasOwn(reporting, name)
        ? Reflect.get(reporting, name)
        : member.bind(target);
      return method;
    },
  });
}

function tellingAdmit(again: AdmitAgain | undefined, passed: () => void): AdmitAgain | undefined {
  if (again === undefined) return undefined;
  return () => {
    passed();
    return again();
  };
}

function tellingAnswer(again: AnswerAgain | undefined, passed: () => void): AnswerAgain | undefined {
  if (again === undefined) return undefined;
  const given = (): void => {
    passed();
    again.given();
  };
  return { find: () => again.find(), given };
}
