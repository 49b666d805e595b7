import {
  defineEndpoint,
  defineStage,
  type Answer,
  type EndpointPlugin,
  type Exchange,
  type HttpCall,
  type SlotName,
  type StagePlugin,
} from '../../../core/plugin/index.js';
import type { EncodedAnswer } from '../../../core/wire/answer/types.js';

/** A complete text response. */
export function text(body: string, status = 200): EncodedAnswer {
  return {
    kind: 'encoded',
    status,
    contentType: 'text/plain; charset=utf-8',
    headers: new Map(),
    body: Buffer.from(body),
  };
}

/** An endpoint plugin with a few routes. */
export function serving(
  routes: Readonly<Record<string, (call: HttpCall) => Promise<Answer>>>,
): EndpointPlugin {
  return defineEndpoint({
    name: 'fixture',
    summary: 'Routes of a test.',
    servesAdmin: true,
    create: () => ({ routes: new Map(Object.entries(routes)) }),
  });
}

/** An endpoint that returns the properties of its call. */
export const telling = (call: HttpCall): Promise<Answer> =>
  Promise.resolve(
    text(
      JSON.stringify({
        route: call.route,
        method: call.method,
        path: call.path,
        pathParams: [...call.pathParams],
        params: [...call.params],
        orgId: call.caller.orgId,
        categorize: call.caller.categorizeLabels,
        drilldown: call.caller.isDrilldown,
      }),
    ),
  );

/** A last stage that answers with this function. */
export function lastStage(handle: (exchange: Exchange<SlotName>) => Promise<Answer>): StagePlugin {
  return defineStage<unknown, SlotName, SlotName>({
    name: 'end',
    summary: 'Answers.',
    needs: [],
    gives: [],
    rest: 'never',
    create: () => ({ handle }),
  });
}

/** A last stage with the same answer for every request. */
export function answering(answer: Answer): StagePlugin {
  return lastStage(() => Promise.resolve(answer));
}

/** A promise that the test resolves. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
