import type { TaskSpans } from '../observability/task-spans.ts';
import { createAdmit, type AdmissionDeps, type Admit } from './admission.ts';

/** Adds spans for the admission, the hold and the workflow's start to the request's trace. */
export function createTracedAdmit(deps: AdmissionDeps, spans: TaskSpans | undefined): Admit {
  if (spans === undefined) return createAdmit(deps);
  const { ledger, port } = deps;
  const admit = createAdmit({
    ...deps,
    ledger: {
      hold: (hold) => spans.run(hold.task, { name: 'ledger.hold' }, () => ledger.hold(hold)),
      blockHold: (request) => ledger.blockHold(request),
    },
    port: { start: (input) => spans.run(input.task, { name: 'workflow.start' }, () => port.start(input)) },
  });
  return (request) => {
    const { task } = request;
    const attributes = {
      'mediary.task': task.id,
      'mediary.account': task.account,
      'mediary.model': task.model,
    };
    const step = { name: 'admission', parent: task.traceparent, attributes };
    return spans.run(task.id, step, () => admit(request));
  };
}
