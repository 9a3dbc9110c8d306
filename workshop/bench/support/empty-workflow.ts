import { allHandlersFinished, condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** The least that a plain start can do. */
export async function plainWorkflow(): Promise<void> {
  await Promise.resolve();
}

/** The least that an Update-With-Start can do: start a workflow, answer its update, end. */
const emptyUpdate = defineUpdate<string>('admit');

export async function emptyWorkflow(): Promise<void> {
  let answered = false;
  setHandler(emptyUpdate, () => {
    answered = true;
    return 'admitted';
  });
  await condition(() => answered);
  await condition(allHandlersFinished);
}
